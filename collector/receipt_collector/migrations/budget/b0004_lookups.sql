-- In the order in which the evidence that stands for an expense is chosen.
CREATE INDEX receipt_evidence_of_expense
  ON budget.receipt_evidence (expense_pk, is_primary_source DESC, id);
DROP INDEX budget.receipt_evidence_expense;

-- PostgreSQL asks an index for nothing that its own predicate says already, so what is looked for has
-- to be its first column.
CREATE UNIQUE INDEX expenses_scanned_sha256 ON budget.expenses (source_sha256)
  WHERE source = 'scanned';
DROP INDEX budget.expenses_scanned_source;

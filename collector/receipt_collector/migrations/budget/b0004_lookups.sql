-- In the order in which the evidence that stands for an expense is chosen.
CREATE INDEX receipt_evidence_of_expense
  ON budget.receipt_evidence (expense_pk, is_primary_source DESC, id);
DROP INDEX budget.receipt_evidence_expense;

-- PostgreSQL asks an index for nothing that its own predicate says already, so what is looked for has
-- to be its first column.
CREATE UNIQUE INDEX expenses_scanned_sha256 ON budget.expenses (source_sha256)
  WHERE source = 'scanned';
DROP INDEX budget.expenses_scanned_source;

-- A purchase is looked for by total and day, or by total alone and then no more than so many.
CREATE INDEX expenses_day_total ON budget.expenses (order_date, expense_total);
CREATE INDEX expenses_moment_total
  ON budget.expenses ((transaction_datetime::date), expense_total);
CREATE INDEX expenses_total_id ON budget.expenses (expense_total, id);
DROP INDEX budget.expenses_order_date, budget.expenses_transaction_date, budget.expenses_total;

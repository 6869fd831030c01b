-- In the order in which the evidence that stands for an expense is chosen.
CREATE INDEX receipt_evidence_of_expense
  ON budget.receipt_evidence (expense_pk, is_primary_source DESC, id);
DROP INDEX budget.receipt_evidence_expense;

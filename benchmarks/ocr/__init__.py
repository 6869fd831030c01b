"""How well receipts are read, and what a receipt costs, on receipts with labels."""

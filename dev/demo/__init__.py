"""`make demo`: the whole product on this machine, watched from apply to the saved receipts."""

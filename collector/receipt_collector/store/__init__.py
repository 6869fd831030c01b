"""The collector's SQL: named parameters, one statement for each function."""

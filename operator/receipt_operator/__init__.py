"""The operator: turns objects of two kinds into confirmed messages and mirrors their outcome."""

"""From printed lines to fields: pure modules, no clock, no files, no engine."""

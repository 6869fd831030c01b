"""OCR engines behind one small protocol."""

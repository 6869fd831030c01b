"""Speed, measured on real parts; nothing here asserts a time."""

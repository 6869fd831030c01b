"""The whole schema as plain SQL, one folder for each part; Alembic keeps order and versions."""

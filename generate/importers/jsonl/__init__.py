"""The format for statements from anywhere: one row a statement, as JSON lines, CSV, Parquet or a dataset."""

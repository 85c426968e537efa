"""The report of a benchmark: every method on one page, every table, and the data to compute them again."""

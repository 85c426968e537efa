"""The report of a benchmark: every method on one page, every table, and the data; and pages over many reports."""

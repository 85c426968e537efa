"""Shared by all packages: errors, the console, text. Knows nothing about games."""

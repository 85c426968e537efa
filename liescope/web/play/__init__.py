"""People at the table: tables with secret links for their seats, played as runs like any other."""

"""Who sits at the table: scripted players, models behind an endpoint."""

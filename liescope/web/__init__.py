"""Pages in a browser: look at games, play them, judge them. FastAPI (extra `web`) is imported only where it is used."""

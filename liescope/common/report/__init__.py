"""Reports: what one holds, and how it becomes a page, Markdown, lines of a terminal, CSV, JSON and a folder."""

"""Players, prompts, the runner and its journal, tournaments, importers, the corpus, publishing."""

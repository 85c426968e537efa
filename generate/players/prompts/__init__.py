"""What a model reads, from template files: the rules, what happened, what only it knows, and the question."""

"""Looking at games: where they come from, the list of them, one game as a page, and the queue of doubtful labels."""

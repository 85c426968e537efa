"""What every room uses: errors, the console, text. It knows nothing of games."""

"""The kinds of detector, one file each."""

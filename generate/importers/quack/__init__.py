"""QUACK: an Among-Us-like game between language models, with claims that its authors checked against the log."""

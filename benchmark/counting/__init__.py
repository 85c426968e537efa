"""Counts of games for each (deceiver, discloser, judge): from runs, corpora, files and the paper's tables."""

"""Counts of games for each (mafioso, detective, villager): from runs, corpora, files and the paper's tables."""

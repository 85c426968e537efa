"""Faces: Liescope's games and detectors as parts of other tools. Each module needs its tool, and only that tool or its
user imports it.
"""

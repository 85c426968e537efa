"""What a reader sees of the text of a figure: how high it is, and whether it lies within the figure."""

from __future__ import annotations

import re

NARROW = 350  # CSS pixels that a figure has on a phone


def smallest_text(svg: str, width: float = NARROW) -> float:
    """CSS pixels of the smallest text of a figure by `liescope.common.figures.svg`, shown at this width."""
    box = re.search(r"viewBox=[\"']0 0 ([\d.]+) ", svg)
    sizes = [float(scale) * 100 for scale in re.findall(r"\) scale\(([\d.]+) -", svg)]  # glyphs are drawn 100 high
    return min(sizes) * width / float(box[1])

"""The colours of the figures: Okabe and Ito's, which colour-blind readers tell apart."""

COLOURS = {
    "ink": "#333333",
    "grey": "#999999",
    "blue": "#0072B2",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "orange": "#E69F00",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
}
CYCLE = tuple(COLOURS[name] for name in ("blue", "vermillion", "green", "orange", "purple", "sky", "yellow", "grey"))
"""Colours for things without a fixed colour, such as models; repeats after the last."""

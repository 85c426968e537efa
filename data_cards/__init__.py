"""Cards: templates of the dataset's and the models' cards, croissant.json, and the code that fills them from facts."""

from liescope.common.errors import CardError
from liescope.data_cards.cards import render_dataset_card, render_model_card
from liescope.data_cards.croissant import croissant

__all__ = ["CardError", "croissant", "render_dataset_card", "render_model_card"]

"""Dataset cards, model cards and croissant.json: their templates, and the code that fills them in from facts."""

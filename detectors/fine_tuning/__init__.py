"""Fine-tuning an encoder of the Hub: what its kinds of detector share."""

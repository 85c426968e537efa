"""Fits of the capability model: the model, its sampler, what its posterior says, and its report."""

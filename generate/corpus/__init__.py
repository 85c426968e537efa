"""The corpus: labelled games as Parquet files for `datasets.load_dataset(folder, config)`, with a dataset card."""

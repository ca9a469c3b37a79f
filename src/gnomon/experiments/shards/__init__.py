"""Shards: the attempts of one trial as a Parquet file."""

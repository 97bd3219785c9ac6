"""Folders of shards, processed by threads, by processes or by a Ray cluster."""

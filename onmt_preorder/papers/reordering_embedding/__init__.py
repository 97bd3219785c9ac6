"""Reordering embeddings (Chen et al. 2019)."""

"""Layers of annotation: each takes sentences and gives them one layer more."""

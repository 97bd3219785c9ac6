"""The methods of preordering: a package for each, the table of them, and their models on disk."""

FORMAT_VERSION = 2
"""Of model directories."""

"""The methods of preordering: a package for each, the table of them, and their models on disk."""

FORMAT_VERSION = 4
"""Of model directories, those that are written and the only ones that are read."""

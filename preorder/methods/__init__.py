"""The methods of preordering: a package for each, the table of them, and their models on disk."""

FORMAT_VERSION = 3
"""Of the model directories that are written."""

READABLE_VERSIONS = (2, FORMAT_VERSION)
"""Of those that can be read. In version 2 the weights of a BTG model are in half precision."""

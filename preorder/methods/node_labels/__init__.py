"""Preordering by syntax trees: decide for each node whether its children are swapped."""

"""Preordering by syntax trees: decide for each node of a binary tree whether its children are swapped."""

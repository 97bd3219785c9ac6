"""Preordering by syntax trees: decide for each node of a binary tree whether its children are swapped.

``trees`` holds the trees as arrays and finds the best labels that an alignment allows, ``networks``
predict labels, and ``model`` has the preorderers.
"""

"""Preordering by syntax trees: decide for each node of a binary tree whether its children are swapped.

``forest`` holds the trees as arrays, ``oracle`` finds the best labels that the alignment allows,
``training_data`` collects what is learned from, ``labeller`` turns labels into orders, ``networks`` predict
them.
"""

"""BTG preordering with scores of a network and exact inference, in PyTorch.

``network`` scores the parts of nodes, ``learner`` trains it, ``decode`` finds the best trees, and ``model``
is the preorderer.
"""

"""BTG preordering with scores of a network and exact inference, in PyTorch.

``network`` scores the parts of nodes, ``decode`` finds the best trees, and ``model`` has the preorderer.
"""

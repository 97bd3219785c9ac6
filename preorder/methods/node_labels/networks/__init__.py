"""Preordering by networks that label the nodes of given syntax trees, in PyTorch.

``batch`` holds sentences and trees as numbers, ``recursive`` and ``contextual`` are the two networks with
their preorderers, ``compose`` is the recursion of the first, ``learner`` trains them, ``labeller`` is what
the preorderers share.
"""

"""Attention that is mixed with a model of jumps (Zhang et al. 2017), on RNNsearch*."""

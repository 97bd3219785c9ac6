"""Explicit reordering (Chen et al. 2020): ExGRE and ReFSR."""

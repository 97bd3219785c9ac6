"""BTG preordering with the scores of a network in PyTorch and exact inference."""

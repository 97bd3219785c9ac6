"""What all methods share in training: the training loop, checkpoints, options, and numbers for tokens."""

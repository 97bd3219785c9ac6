"""What the methods share when they learn: the training loop, checkpoints, options, and numbers for tokens."""

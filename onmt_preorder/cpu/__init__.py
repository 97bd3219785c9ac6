"""What training on a CPU needs to be fast: the loss in blocks, dropout, linear layers in bfloat16."""

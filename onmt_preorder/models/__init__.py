"""The encoder and the decoder that OpenNMT-py builds: a Transformer with the ideas of the papers in it."""

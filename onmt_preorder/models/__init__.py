"""The encoder and the decoder that OpenNMT-py builds: our Transformer with the papers' ideas in its slots."""

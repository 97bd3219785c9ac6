"""The Transformer: layers, attention with relative positions, sinusoids, dropout."""

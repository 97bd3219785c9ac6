"""Syntax trees of source sentences: read, checked against the tokens, made binary."""

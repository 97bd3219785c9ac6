"""Syntax trees of source sentences: read from files, checked against the tokens, made binary."""

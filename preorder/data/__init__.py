"""Sentences, alignments, orders and trees as values, and their formats."""

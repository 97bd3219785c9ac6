"""Sentences, alignments, orders and trees as values; their formats; and the files that hold them."""

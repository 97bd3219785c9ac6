"""Word alignments, and what they say about the order of the source words."""

"""From source text to positions: subwords, preordering on the fly, ranks."""

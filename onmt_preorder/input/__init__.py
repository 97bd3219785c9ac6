"""From source text to positions: transforms, subwords, and preordering on the fly."""

"""BTG preordering with a neural span scorer and exact inference; torch does the work.

``vocabulary`` numbers the tokens, ``network`` scores spans, ``inside`` sums over trees, ``learner``
learns, ``decode`` finds the best trees, ``model`` is what others use.
"""

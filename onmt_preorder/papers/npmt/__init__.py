"""Neural phrase-based translation (NPMT): local reordering and the output layer SWAN (Huang et al. 2018).

SWAN is from Wang et al. 2017. Every source element emits one segment, which may be empty, and the
segments one after another are the translation. Its probability is the sum over all its segmentations.
"""

DECODER = "swan"  # as decoder_type

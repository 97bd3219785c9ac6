"""Analyses of why systems differ: pure functions from texts and statistics to small frozen results."""

LENGTH_WIDTH = 10  # tokens: how many lengths a group has; Kawara et al. 2021, Figures 7 to 10, like the next
LAST_LENGTH = 61  # tokens: the least length of the last group, which has no upper end
GAIN_WIDTH = 0.5  # of tau: how wide a group of gains is
CURVE_METRICS = ("bleu", "ribes")
EXAMPLE_METRIC = "chrf"  # bounded, and stable on single sentences
EXAMPLE_COUNT = 5  # of each sort
SWAP_PERCENTAGES = tuple(range(0, 101, 10))  # of the words; Chen et al. 2019, Figures 3 to 5
PICTURES = (".svg", ".png", ".pdf")  # suffixes of the files that pictures are written to
PAGE = ".html"  # sentences are written to this, too

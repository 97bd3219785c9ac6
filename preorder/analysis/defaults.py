"""What analyses do unless told otherwise; costs nothing to import."""

WIDTH = 10  # tokens in a group of lengths; Kawara et al. 2021, Figures 7 to 10, like the next
LAST = 61  # tokens: the least length of the last group, which has no end
GAIN_WIDTH = 0.5  # of tau, in a group of gains
METRICS = ("bleu", "ribes")  # of curves
EXAMPLE_METRIC = "chrf"  # bounded, and steady on single sentences
EXAMPLES = 5  # of each sort
PERCENTAGES = tuple(range(0, 101, 10))  # of swapped words; Chen et al. 2019, Figures 3 to 5

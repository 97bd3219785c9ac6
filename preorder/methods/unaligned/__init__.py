"""Where tokens without a link go: beside the linked tokens around them, as the gold order puts them.

``links`` says how probable it is that an aligner links a token; ``attach`` finds the order that, with
these probabilities, agrees with the gold order in the most pairs; ``preorderer`` adds both to any method.
"""

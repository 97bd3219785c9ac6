"""Tokens without a link: they are put beside the linked tokens around them, as in the gold order.

``links`` predicts how probable it is that an aligner links a token; ``attach`` finds the order that, with
these probabilities, agrees with the gold order in the most pairs; ``preorderer`` adds both to any method.
"""

"""The bracketing transduction grammar (BTG; Wu 1997): binary trees whose nodes are straight or inverted.

``grammar`` names labels and contexts, ``scores`` lays out what nodes score. ``viterbi`` finds the best tree,
``nbest`` the best orders, also of sentences too long for one search. ``chart`` sums over all trees, and
finds the order with the greatest expected agreement. ``constraint`` says which trees an alignment allows.
Where the scores come from is up to the methods.
"""

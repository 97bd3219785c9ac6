"""The bracketing transduction grammar (BTG; Wu 1997): binary trees whose nodes are straight or inverted.

``grammar`` names labels and contexts, ``scores`` lays out what nodes score. ``viterbi`` finds the best tree,
``nbest`` the best orders; ``chart`` sums over all trees; ``constraint`` says which ones an alignment allows.
"""

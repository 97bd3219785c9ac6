"""The bracketing transduction grammar (BTG; Wu 1997): binary trees whose nodes are straight or inverted.

``grammar`` names labels and contexts, ``scores`` lays out what nodes score. ``viterbi`` finds the best tree,
``kbest`` the best orders, ``inside`` sums over all trees, and ``risk`` finds the order that can be expected
to agree best.
``constraint`` says which trees an alignment allows, ``pieces`` cuts long sentences.
Where the scores come from is up to the methods.
"""

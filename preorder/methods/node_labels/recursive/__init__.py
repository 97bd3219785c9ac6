"""Preordering by networks that label the nodes of given syntax trees; torch does the work.

``batch`` numbers all that is known of a node, ``compose`` is the recursion of the recursive network,
``network`` has both networks, ``learner`` learns, ``model`` is what others use.
"""

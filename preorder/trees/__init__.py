"""Syntax trees: read, checked against the tokens, made binary.

``types`` holds them, ``bracketing`` and ``conllu`` parse their formats, ``read`` gives them to
sentences, ``heads`` and ``projective`` make one kind of tree of all, ``binary`` makes that binary, and
``oracle`` says how well such a tree can be ordered.
"""

"""Syntax trees: read, checked against the tokens, made binary, labelled.

``types`` holds them, ``bracketing`` and ``conllu`` parse their formats, ``read`` gives them to
sentences; ``binary`` makes any of them binary, with ``heads`` and ``projective``; ``forest`` holds many as
arrays; ``oracle`` says how well such trees can be ordered, and ``labelling`` is what methods build on.
"""

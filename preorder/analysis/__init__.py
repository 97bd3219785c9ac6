"""Analyses that tell why systems differ: pure functions from texts and statistics to small frozen results.

Every result is one of three kinds, each drawn, printed and written by one function: curves over
groups of sentences (:class:`~preorder.analysis.results.Curves`), a table of figures
(:class:`~preorder.analysis.results.Figures`), examples (:class:`~preorder.analysis.examples.Examples`).
"""

"""Analyses that tell why systems differ: pure functions from texts and statistics to small frozen results.

A result is one of three kinds, each drawn, printed and written by one function: curves over groups of
sentences (:class:`~preorder.analysis.results.Curves`), a score broken down into its parts
(:class:`~preorder.analysis.results.Breakdown`), examples (:class:`~preorder.analysis.examples.Examples`).
"""

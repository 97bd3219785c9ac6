"""Measures of an order and of a translation, from sufficient statistics of each sentence."""

"""An extension of OpenNMT-py: tells a Transformer the position of each source word in the target's order.

Installing this package is enough: OpenNMT-py's commands find it through :mod:`onmt_preorder._hook`.
"""

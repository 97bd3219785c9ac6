"""OpenNMT-py, told where each source word will stand in the target's order.

Installing this package is enough: ``onmt_build_vocab``, ``onmt_train`` and
``onmt_translate`` find it through :mod:`onmt_preorder._hook`.
"""

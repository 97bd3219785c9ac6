"""Imported at interpreter start by ``onmt_preorder.pth``."""

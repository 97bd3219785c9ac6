"""Relative attention by fused Triton kernels, and the comparison with plain torch before they are trusted."""

"""The ways to preorder: one package a method, and what they have in common."""

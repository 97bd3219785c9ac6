"""Sentences, alignments, orders and trees as values, and their formats."""

from preorder.data.permutation import Permutation
from preorder.data.sentence import NO_LINES, Alignment, Bitext, Sentence
from preorder.data.trees import BinaryTree, Node

__all__ = ["NO_LINES", "Alignment", "BinaryTree", "Bitext", "Node", "Permutation", "Sentence"]

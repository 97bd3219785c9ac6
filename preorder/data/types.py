"""The small frozen values that pass between all parts of the program, in one import."""

from preorder.data.alignment import Alignment
from preorder.data.binary_tree import BinaryTree, Node
from preorder.data.bitext import NO_LINES, Bitext
from preorder.data.permutation import Permutation
from preorder.data.sentence import Sentence

__all__ = ["NO_LINES", "Alignment", "BinaryTree", "Bitext", "Node", "Permutation", "Sentence"]

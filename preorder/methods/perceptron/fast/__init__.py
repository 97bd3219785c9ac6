"""The compiled part of the perceptron: written for speed."""

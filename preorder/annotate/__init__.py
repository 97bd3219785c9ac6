"""Layers of annotation for source sentences: word classes, and tags and trees by Stanza."""

"""Sentences, drawn: trees, links to their translations before and after preordering, attention."""

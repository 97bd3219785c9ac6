"""One sentence, drawn: its tree, the links to its translation before and after preordering, attention."""

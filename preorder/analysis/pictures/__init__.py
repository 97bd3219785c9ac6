"""Pictures drawn with matplotlib, the extra ``plots``: readable without colour, the same bytes every time."""

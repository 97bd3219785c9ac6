"""Results drawn with matplotlib, the extra ``plots``: to be read in grey, too; the same bytes every time."""

"""A bitext of our own making, for trying things out without any download."""

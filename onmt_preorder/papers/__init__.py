"""A folder for each paper: its layers, and beside them its options."""

"""One folder or file a paper: its layers, its options beside them."""

"""Lines ordered in blocks, from bytes to bytes, by compiled code that runs on several threads at once."""

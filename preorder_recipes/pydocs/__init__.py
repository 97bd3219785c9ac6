"""Python's documentation and its translations: little text of a living kind, in many languages."""

"""The Transformer that the papers share: layers with slots for their ideas, attention, and its options."""

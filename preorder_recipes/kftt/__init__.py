"""KFTT: alignment and order measured on hand alignments. See README.md."""

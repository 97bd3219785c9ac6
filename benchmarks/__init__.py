"""Measurements of speed, memory and accuracy; docs/benchmarks.md has the results."""

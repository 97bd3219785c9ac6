"""Attention that is mixed with a model of jumps (Zhang et al. 2017), on RNNsearch*.

| Module | Holds |
|---|---|
| jumps | Γ, the expected shift of the previous attention, and its mixture with the content's |
| encoder | the bidirectional GRU |
| decoder | RNNsearch* with or without jumps |
| initialise | the paper's initialisation, and a warm start from a trained RNNsearch* |
"""

"""Neural phrase-based translation (NPMT): local reordering and the output layer SWAN (Huang et al. 2018).

SWAN is from Wang et al. 2017. Every source element emits one segment, which may be empty, and the
segments one after another are the translation. Its probability is the sum over all its segmentations.

| Module | Holds |
|---|---|
| local_reordering | the layer before the encoder |
| network | the recurrent network that scores segments, given a source element |
| scorer | a batch, and the network's run over its segments, in chunks |
| lattice | the sum over segmentations, its gradient, the best segmentation |
| likelihood | both together: the loss, in bounded memory |
| decoder | the decoder and the loss as OpenNMT-py wants them |
| segments | an element's best segment, found greedily, or its several best, by a beam |
| search | translations: greedy, or by a beam over elements |
| language_model | n-gram scores of translations |
| translator | the search, called by OpenNMT-py instead of its own |
"""

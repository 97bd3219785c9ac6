"""SWAN, the output layer of neural phrase-based translation (Huang et al. 2018; Wang et al. 2017).

Every source element emits one segment, which may be empty, and the segments after each other
are the translation. A sentence's probability is the sum over all its segmentations.

| Module | Holds |
|---|---|
| network | the recurrent network that scores segments, given a source element |
| scorer | runs it over the segments of a batch, in chunks |
| lattice | the sum over segmentations, its gradient, the best segmentation |
| likelihood | both together: the loss, in bounded memory |
| decoder | the decoder and the loss as OpenNMT-py wants them |
| segments | an element's best segments: greedily, or several by a beam |
| search | translations: greedy, or by a beam over elements |
| language_model | n-gram scores of translations |
| translator | the search in OpenNMT-py's place of its own |
"""

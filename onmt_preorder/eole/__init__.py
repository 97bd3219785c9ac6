"""Whatever is bound to eole 0.6, OpenNMT-py's successor, in the six jobs of `onmt_preorder.opennmt`.

========== =============================================================================================
register   `registration`: our names in eole's tables
options    `options`: ``encoder_type: preorder_transformer`` in eole's configuration
position   `encoders`: ids that hold a word and its position become vectors and positions
loss       `training`: the loss of explicit reordering
batches    `transforms`: lines with positions become ids; preordering on the fly
search     `translation`: eole's own, which sees words alone
========== =============================================================================================

eole has tables for encoders and transforms, and keeps the configurations of both in its models. Where it has
no door, four functions and one class of it are wrapped or replaced; each file says which, and why.
"""

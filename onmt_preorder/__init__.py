"""OpenNMT-py, told where each source word will stand in the target's order.

Installing this package is enough: ``onmt_build_vocab``, ``onmt_train`` and
``onmt_translate`` find it through :mod:`onmt_preorder._hook`.

| What | Where |
|---|---|
| how OpenNMT-py finds and is fitted to us | _hook, plugin, host, removed |
| what a configuration may say of our models | options |
| from source text to places | transforms, pipeline, on_the_fly, pieces, positions |
| one Transformer for all | encoders, decoders, layers, attention, causal_attention, dropout, sinusoidal |
| one paper's idea each | reordering_embedding, explicit_reordering, local_reordering, distortion, swan |
| what a part adds to the training loss | losses |
| the ``onmt_preorder`` command | cli, lines |
"""

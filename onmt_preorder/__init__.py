"""An extension of OpenNMT-py: tells a Transformer the position of each source word in the target's order.

Installing this package is enough: OpenNMT-py's commands find it through :mod:`onmt_preorder._hook`.

| What | Where |
|---|---|
| how OpenNMT-py finds and registers our models | _hook, plugin |
| the adaptations of OpenNMT-py | opennmt |
| the encoder and the decoder, put together from the parts below | models |
| all options of our models: names, defaults, checks | options |
| one paper's idea each | papers |
| the Transformer that they share | transformer |
| from source text to positions | input |
| the loss in blocks, the best checkpoint | cross_entropy, checkpoint_choice |
| ``base`` and ``size`` in YAML | base_configuration |
| how options are added, and refused where a model ignores them | option_helpers |
| linear layers in bfloat16, the compiled softmax on a CPU | bfloat16_linear, softmax |
| the ``onmt_preorder`` command | cli |

In this order a row uses only rows below it, except ``cli``, which uses all.
"""

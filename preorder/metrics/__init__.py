"""Metrics of orders, translations and alignments, from sufficient statistics of each sentence.

What others build on:

- :data:`translation.METRIC_CLASSES`: BLEU, chrF, TER and RIBES by name, each a
  :class:`metric.Metric` made from references and :class:`metric.MetricOptions`.
- :class:`orders.Preordering`: a metric of orders: tau, tau_nakagawa, frs and complete_match.
- :func:`scoring.measure` and :func:`scoring.score_systems`: several systems, of several runs
  each, measured, resampled, and compared with each other.
- :mod:`significance`: the tests behind that, paired bootstrap and sign test.
- :func:`orders.evaluate`: the orders of a corpus in one call.
- :func:`alignment.alignment_scores`: alignment error rate against sure and possible links.
"""

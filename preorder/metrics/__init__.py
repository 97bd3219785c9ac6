"""Measures of an order and of a translation, from sufficient statistics of each sentence.

What others build on:

- :data:`translation.CLASSES`: name → class of a :class:`metric.Metric`. Made from references
  (texts of one line a sentence) and :class:`metric.MetricOptions`, a metric turns hypotheses
  into statistics ``[sentences, numbers]``, once. ``score(rows.sum(0))`` is the score of a
  corpus or of any part of it, ``score(rows)`` those of its sentences: any number of sums at a
  time. ``figures`` are all numbers that can be tested, each a :class:`metric.Figure`; of TER
  also ``ter_deletions`` (under-generation), ``ter_insertions`` (over-generation),
  ``ter_substitutions`` and ``ter_shifts`` per sentence. ``details`` are for JSON.
- :class:`preordering.Preordering`: orders measured likewise; its figures are tau,
  tau_nakagawa, frs and complete_match.
- :func:`alignment.alignment_scores`: alignment error rate against sure and possible links.
- :mod:`significance`: paired bootstrap and sign test over the statistics of any figure.
- :func:`scoring.score_systems`: several systems, of several runs each, scored, resampled
  and compared.
"""

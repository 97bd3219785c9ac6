"""Symmetrisation against its definition, written out slowly."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from preorder.alignment.links import SYMMETRIZATIONS

grow_diag_final_and = SYMMETRIZATIONS["grow-diag-final-and"]

links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)


def test_grow_diag_final_and_worked_by_hand():
    forward = {(0, 0), (1, 1), (2, 2), (4, 5)}
    reverse = {(0, 0), (1, 2), (2, 2), (3, 4)}
    # Intersection 0-0, 2-2; grow: 1-1 touches 0-0 and source 1, target 1 are free; 1-2 has
    # neither word free. final-and: 4-5 and 3-4 touch nothing, but all their words are free.
    assert grow_diag_final_and(forward, reverse) == {(0, 0), (1, 1), (2, 2), (4, 5), (3, 4)}


def test_final_needs_both_words_free():
    assert grow_diag_final_and({(0, 0), (0, 5)}, {(0, 0)}) == {(0, 0)}


@given(links, links)
def test_between_intersection_and_union(forward, reverse):
    grown = SYMMETRIZATIONS["grow-diag-final-and"](forward, reverse)
    assert SYMMETRIZATIONS["intersect"](forward, reverse) <= grown
    assert grown <= SYMMETRIZATIONS["union"](forward, reverse)


@given(links, links)
def test_nothing_more_could_be_taken(forward, reverse):
    """A fixed point: no link of the union is left that a rule would still add."""
    grown = grow_diag_final_and(forward, reverse)
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    for i, j in (forward | reverse) - grown:
        assert i in sources or j in targets
        touches = any(max(abs(i - k), abs(j - m)) == 1 for k, m in forward & reverse)
        assert not touches or (i in sources and j in targets)


def test_grow_diag_and_final_worked_by_hand():
    forward = {(0, 0), (1, 1), (2, 2), (4, 5), (4, 2)}
    reverse = {(0, 0), (1, 2), (2, 2), (3, 4)}
    # As above; 4-2 touches nothing that is taken. final: source 4 is free, so 4-2 comes before 4-5, which
    # target 5 brings in.
    assert SYMMETRIZATIONS["grow-diag"](forward, reverse) == {(0, 0), (1, 1), (2, 2)}
    final = {(0, 0), (1, 1), (2, 2), (4, 2), (4, 5), (3, 4)}
    assert SYMMETRIZATIONS["grow-diag-final"](forward, reverse) == final


@given(links, links)
@example({(0, 0), (1, 1), (2, 2)}, {(0, 0)})  # 2-2 touches none but 1-1, which is itself taken
def test_grow_diag_takes_what_touches_a_taken_link_and_nothing_else(forward, reverse):
    grown = SYMMETRIZATIONS["grow-diag"](forward, reverse)

    def touches(link, taken):
        return any(max(abs(link[0] - k), abs(link[1] - m)) == 1 for k, m in taken)

    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    for i, j in (forward | reverse) - grown:
        assert not touches((i, j), grown) or (i in sources and j in targets)
    reached = forward & reverse
    while more := {link for link in grown - reached if touches(link, reached)}:
        reached |= more
    assert reached == grown


def test_final_takes_the_forward_links_before_the_reverse_ones():
    assert grow_diag_final_and({(0, 1)}, {(0, 0)}) == {(0, 1)}
    assert grow_diag_final_and({(0, 0)}, {(0, 1)}) == {(0, 0)}


@given(links, links)
def test_each_grown_alignment_holds_the_one_before(forward, reverse):
    names = ("intersect", "grow-diag", "grow-diag-final-and", "union")
    chain = [SYMMETRIZATIONS[name](forward, reverse) for name in names]
    assert all(one <= other for one, other in pairwise(chain))
    assert chain[1] <= SYMMETRIZATIONS["grow-diag-final"](forward, reverse) <= chain[3]


@given(links, links)
def test_directions(forward, reverse):
    assert SYMMETRIZATIONS["forward"](forward, reverse) == forward
    assert SYMMETRIZATIONS["reverse"](forward, reverse) == reverse

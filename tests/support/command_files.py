"""Small files for command lines of tests, and options that many of these lines have."""

FILES = {
    # for analyse
    "src": ("a b", "a b c", "a b c d", "a b c d e f", "", "a b c d e f g"),
    "ref": ("x y .", "x y z .", "w x y z .", "the cat sat on the mat .", "so .", "it is cold isn't it ."),
    "base": ("x y .", "x z y .", "w z .", "the mat sat on .", "so", "is it cold isn't ."),
    "ours": ("y x .", "x y z .", "w x y z .", "the cat sat on a mat .", "so .", "it it cold isn't it ."),
    "align": ("0-1 1-0", "0-0 1-2 2-1", "0-0 1-1 2-2 3-3", "0-5 1-4 2-3 3-2 4-1 5-0", "", "0-0 0-2 1-1"),
    "positions": ("1 0", "0 2 1", "0 1 3 2", "5 4 3 2 1 0", "", "0 1 2 3 4 5 6"),
    "empty": ("",) * 6,
    "crossed": ("0-0 1-1", *["0-0 0-2 1-1"] * 5),  # one can be sorted
    "run.0": ("a",) * 6,
    "same": ("0 1 2",) * 6,
    # for score: sentences of 2, 0, 3 and 3 tokens
    "s.ref": ("the cat", "", "it is cold", "a b c d e f"),
    "good": ("the cat", "", "it is cold", "a b c f d e"),
    "bad": ("on the mat sat a cat .", "x", "", "f e d c b a"),
    "scored": ("the cat\t-1.2", "\t0", "it\t-3", "a\t-2"),  # onmt_translate -with_score
    "s.align": ("0-1 1-0", "", "0-0 0-2 1-1", "0-0 1-2 2-1"),
    "s.order": ("1 0", "", "0 1 2", "2 0 1"),
    "s.early": ("1 0", ""),
    "s.other": ("1 0", "", "0 1 2", "1 0"),
    "s.short": ("1 0", "", "0 1", "1 0"),
    "s.twice": ("1 0", "", "0 1", "1 1"),
    # for one sentence, or two
    "ab": ("a b",),
    "one.order": ("1 0",),
    "of.three": ("3-1 ||| 0-0",),
    "twice": ("0 0",),
    "unsorted": ("0-0 0-2 1-1",),
    "none": (),
    "link": ("0-0",),
    "links": ("0-0", "0-0"),
    "possible": ("0-0", "0?0"),
    "plus": ("0+0",),
    "from1": ("1-1 2-2",),
    "lader2": ("2-2 ||| 3-1",),
    "turned": ("2-0",),
    "far": ("9-0", "0-0"),
    "few": ("0-1 1-0", "0-0"),
    "source": ("a b", "b"),
    "target": ("B A", "B"),
    "old": ("a b", "c"),
    "new": ("ac", "c"),
    "cut": ("ab",),
    "tags": ("X X", "X"),
    "pairs": ("a b", "c d"),
    # for show
    "h.src": ("I like the pen", "you like the red pen"),
    "h.tgt": ("watashi wa pen ga suki", "anata wa akai pen ga suki"),
    "h.align": ("0-0 1-4 3-2", "0-0 1-5 3-2 4-3"),
    "h.positions": ("0 3 1 2", "1 3 0 4 2"),
    "h.order": ("0 2 3 1",),
    # for swap and train
    "ten": ("a b c d e f g h i j", "", "one"),
    "three": ("a b c",) * 4,
    "three.align": ("0-0",) * 4,
    "three.tags": ("N V N", "N V", "", ""),
}

GIVEN = {
    "@": "--ref ref --hyp base=base ours=ours --tokenize none",
    "%": "--ref s.ref --hyp a=good b=bad",
    "$": "--src source --tgt target",
    "&": "--src h.src --positions h.positions",
    "#": "--method btg --src three --align three.align --model out -q",
}
"""What stands for options that many lines have."""

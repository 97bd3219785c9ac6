"""Wrapping of functions and methods."""

from onmt_preorder.opennmt import wrapping


def test_wrapping_methods_classmethods_and_functions():
    class Base:
        def method(self, x):
            return x

        @classmethod
        def name(cls):
            return cls.__name__

    class Derived(Base):
        pass

    def add_one(original, self, x):
        return original(self, x) + 1

    def double(original, self, x):
        return 2 * original(self, x)

    def exclaim(original, cls):
        return original(cls) + "!"

    for _ in range(2):
        wrapping.wrap(Derived, "method", add_one)
        wrapping.wrap(Derived, "name", exclaim)
    assert (Derived().method(1), Derived.name()) == (2, "Derived!")
    for _ in range(2):
        wrapping.wrap(Derived, "method", double)
        wrapping.wrap(Derived, "method", add_one)
    assert Derived().method(1) == 4
    assert (Base().method(1), Base.name()) == (1, "Base")

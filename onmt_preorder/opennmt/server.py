"""Our models in OpenNMT-py's translation server.

Why: the server does not use the transforms of a model, and fails where some token has no feature. Here a
request is treated as a line in ``onmt_translate`` is: plain text or ``token￨position``, preordered on the
fly, split and joined as the checkpoint says.

Can go when the server uses the transforms of its models.
"""

from __future__ import annotations

from typing import Any

from onmt_preorder.opennmt.translation import LineTranslator
from onmt_preorder.opennmt.wrapping import adapts
from onmt_preorder.options import is_ours
from preorder.errors import UsageError
from preorder.io.files import without_line_end


@adapts("onmt.translate.translation_server:ServerModel", "load")
def _load(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    try:
        original(self, *args, **kwargs)
    finally:  # else all later requests would wait for it
        self.loading_lock.set()
    if is_ours(self.opt):
        if self.opt.report_align:
            raise UsageError("report_align does not work in OpenNMT-py's server: onmt_translate has it")
        if self.tokenizers_opt is not None:
            raise UsageError("tokenizer: leave it out: the model splits words as its checkpoint says")
        self.translator = _make_translator(self.translator, self.opt)


def _make_translator(translator: Any, opt: Any) -> Any:
    """Make a translator of the class to which the server gives whole lines."""
    from onmt.translate.translation_server import CTranslate2Translator

    class ServerTranslator(CTranslate2Translator):
        def __init__(self) -> None:
            self.model = translator.model
            self._lines = LineTranslator(translator, opt)

        def translate(self, examples: list[dict[str, Any]], *_: Any, **__: Any) -> tuple[list, list]:
            translated = self._lines.translate([example["src"]["src"] for example in examples])
            self._lines.check.finish()
            return translated

    return ServerTranslator()


@adapts("onmt.translate.translation_server:ServerModel", "maybe_preprocess")
def _preprocess(original: Any, self: Any, sequence: dict[str, Any]) -> dict[str, Any]:
    """Leave features on their tokens: they are read later, as those of a file are."""
    if not is_ours(self.opt) or sequence.get("src") is None:
        return original(self, sequence)
    rest = {name: value for name, value in sequence.items() if name != "src"}
    line = without_line_end(sequence["src"]).strip(" \t")  # other white space is part of a token, as in files
    rest |= {"seg": [line], "ref": [sequence.get("ref")], "src_feats": [None], "n_seg": 1}
    return original(self, rest)


@adapts("onmt.translate.translation_server:ServerModel", "maybe_transform_feats")
def _transform_features(original: Any, self: Any, raw: str, tokens: str, features: Any) -> Any:
    return features if is_ours(self.opt) else original(self, raw, tokens, features)

"""Makes our encoder, transform and options known to OpenNMT-py."""

from __future__ import annotations

import warnings

SUPPORTED = "3.5"


def register() -> None:
    """Register with OpenNMT-py; calling it again does nothing.

    Installed with its ``.pth`` file, the package calls this itself whenever ``onmt`` is
    imported. Call it by hand where ``.pth`` files are not read (a bare ``PYTHONPATH``,
    zipped applications).
    """
    import onmt

    if not onmt.__version__.startswith(f"{SUPPORTED}."):
        warnings.warn(
            f"onmt-preorder works with OpenNMT-py {SUPPORTED}, not {onmt.__version__}: left out", stacklevel=2
        )
        return
    # The transform registers itself when imported. If just that import brought us here,
    # it does so after we have returned.
    import onmt_preorder.transforms  # noqa: F401
    from onmt_preorder.host import adapt

    _register_encoder()
    adapt()


def _register_encoder() -> None:
    from onmt.encoders import EncoderBase, register_encoder, str2enc

    from onmt_preorder.options import ENCODER

    if ENCODER in str2enc:
        return

    @register_encoder(ENCODER)
    class Factory(EncoderBase):
        """Imports the encoder when one is built: its modules may be what imports ``onmt``."""

        @classmethod
        def from_opt(cls, opt, embeddings=None):
            from onmt_preorder.encoders import PreorderTransformerEncoder

            return PreorderTransformerEncoder.from_opt(opt, embeddings)

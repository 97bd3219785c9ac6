"""What trains and translates in a run: a host, whose commands the steps are. Each is one module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from preorder_recipes.configuration import System
    from preorder_recipes.pipeline.job import Job
    from preorder_recipes.pipeline.steps import Stamps, Step

DEFAULT_HOST = "opennmt"
HOSTS = {DEFAULT_HOST: "preorder_recipes.pipeline.opennmt", "eole": "preorder_recipes.pipeline.eole"}
"""The module of each host, imported when a run needs it."""


class Host(Protocol):
    """What a host's module has."""

    MODEL: str
    """What a training leaves in its folder, to translate with."""

    def check(self, job: Job) -> None:
        """Refuse what a run with this host cannot do."""

    def check_options(self, job: Job, config_of: Callable[[System], dict[str, Any]]) -> None:
        """Refuse options of a job's systems as the host would; ``config_of`` gives a training's."""

    def vocabulary_config(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return what of a run's options makes its vocabularies."""

    def vocabulary_command(self, config: str) -> tuple[str, ...]:
        """Return the command that makes vocabularies."""

    def training_config(self, options: dict[str, Any], folder: str) -> dict[str, Any]:
        """Return the configuration of a training in a folder, given its options in OpenNMT-py."""

    def train_steps(self, job: Job, system: System, seed: int, reads: Sequence[str]) -> list[Step]:
        """Return a training, and the choice of its best checkpoint."""

    def translate_command(
        self, job: Job, system: System, seed: int, model: str, source: str
    ) -> tuple[str, ...]:
        """Return the command that translates a file by a system's model."""

    def seconds(self, job: Job, stamps: Stamps, translation: Step) -> float:
        """Return how long a translation took."""


def host_of(job: Job) -> Host:
    """Return what trains and translates in a run."""
    return cast(Host, import_module(HOSTS[job.host]))

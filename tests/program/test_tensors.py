"""What is found in the user's objects, whatever they are."""

from collections import UserDict

import pytest
import torch

from paramedic.program.tensors import tensors_in


class Anything:
    """Has every attribute, and never comes to an end, as objects that record what is done with them."""

    def __getattr__(self, name: str) -> "Anything":
        return self

    def __call__(self, *args: object) -> "Anything":
        return self

    def __getitem__(self, index: int) -> "Anything":
        return self


def test_tensors_are_found_in_all_kinds_of_mappings_and_in_nothing_that_only_seems_one() -> None:
    one = torch.ones(2)
    given = {"a": [one], "b": UserDict(c=(one, 3)), "d": Anything(), "e": [Anything(), None]}
    assert [path for path, _ in tensors_in(given)] == ["['a'][0]", "['b']['c'][0]"]


def test_a_configuration_is_not_read() -> None:
    """Its values are computed when somebody asks for them, by functions of the user's, and may not be there yet."""
    omegaconf = pytest.importorskip("omegaconf")
    asked: list[int] = []
    omegaconf.OmegaConf.register_new_resolver("asked", lambda: asked.append(1) or 1, replace=True)
    settings = omegaconf.OmegaConf.create({"lr": "${asked:}", "folder": "${job.number}", "job": {"number": "???"}})
    assert list(tensors_in([settings, torch.ones(1)])) == [("[1]", torch.ones(1))] and asked == []

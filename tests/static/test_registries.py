"""Built objects that are picked from a dictionary once per round."""

from __future__ import annotations

import pytest

from paramedic.static.program import Program
from paramedic.static.registries import picked_again_and_again

TEXT = """\
def build(kind, depth):
    blocks = {"a": A(8),
              "b": B(8)}
    return Sequential(*[READ])
"""


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ("blocks[kind] for _ in range(depth)", "blocks"),
        ("blocks.get(kind) for _ in range(depth)", "blocks"),
        ("blocks[kind]() for _ in range(depth)", None),  # a registry of functions
        ("blocks['a'] for _ in range(depth)", None),  # a name for what is shared
        ("blocks[k] for k in kind", None),  # a pattern
        ("blocks[kind]", None),  # once
        ("copy(blocks)[kind] for _ in range(depth)", None),
    ],
)
def test_an_entry_that_is_read_in_every_round(read: str, found: str | None) -> None:
    assert picked_again_and_again(Program({"net.py": TEXT.replace("READ", read)}), "net.py", 4, 2) == found


def test_an_entry_that_was_built_elsewhere() -> None:
    text = TEXT.replace("READ", "blocks[kind] for _ in range(depth)").replace("A(8)", "a")
    assert picked_again_and_again(Program({"net.py": text}), "net.py", 4, 2) is None


def test_a_loop_and_a_registry_of_the_file() -> None:
    text = "BLOCKS = {'a': A(), 'b': B()}\ndef build(kind):\n    layers = []\n    for _ in range(3):\n"
    text += "        layers.append(BLOCKS[kind])\n    return ModuleList(layers)\n"
    assert picked_again_and_again(Program({"net.py": text}), "net.py", 6, 1) == "BLOCKS"

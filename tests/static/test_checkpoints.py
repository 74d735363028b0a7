"""Conditions on files: would weights have been loaded, and does the script write the file by itself?"""

from __future__ import annotations

import pytest

from paramedic.findings import Where
from paramedic.static.checkpoints import is_written, loads_what_was_asked_for
from paramedic.static.program import Program

PLAIN = "if os.path.exists(path):\n    model.load_state_dict(torch.load(path))\n"
CALLED = "def restore(m):\n    m.load_state_dict(torch.load('a.pt'))\n\nif Path('a.pt').exists():\n    restore(model)\n"
LEFT = (
    "def load(path):\n    if not os.path.isfile(path):\n        return\n    model.load_state_dict(torch.load(path))\n"
)
ANSWERED = "resume = os.path.exists(path)\nif resume:\n    model.load_state_dict(torch.load(path))\n"
CACHE = "if os.path.exists(path):\n    table = pd.read_csv(path)\n"
MADE = "if not os.path.exists(path):\n    os.makedirs(path)\nmodel.load_state_dict(torch.load(other))\n"


@pytest.mark.parametrize(
    ("text", "line", "loads"),
    [(PLAIN, 1, True), (CALLED, 4, True), (LEFT, 2, True), (ANSWERED, 1, True), (CACHE, 1, False), (MADE, 1, False)],
)
def test_what_the_condition_is_for(text: str, line: int, loads: bool) -> None:
    assert loads_what_was_asked_for(Program({"train.py": text}), Where(file="train.py", line=line)) == loads


def test_a_file_that_the_script_saves_is_missing_the_first_time() -> None:
    saving = Program({"train.py": f"{PLAIN}torch.save(model.state_dict(), path)\n"})
    assert is_written(saving, Where(file="train.py", line=1))
    assert not is_written(Program({"train.py": PLAIN}), Where(file="train.py", line=1))

"""Files that the script asks for and that are not there."""

from __future__ import annotations

import os
from pathlib import Path

from facts_of import facts_of
from paramedic.record.facts import AbsentFile


def test_the_user_asks_and_the_path_is_kept(tmp_path: Path) -> None:
    (tmp_path / "there.pt").touch()

    def step() -> None:
        assert os.path.exists(tmp_path / "there.pt")
        assert not (tmp_path / "absent.pt").is_file()

    assert [event.path for event in facts_of(step).facts(AbsentFile)] == [str(tmp_path / "absent.pt")]

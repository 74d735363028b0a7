"""A value is changed where it is set: in the code, as a default, in a file of settings, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramedic.cure.catalogue import edits_for
from paramedic.cure.project import Project
from paramedic.findings import Finding, Where

MADE = "optimizer = torch.optim.SGD(model.parameters(), lr={})\n"


def cured(folder: Path, files: dict[str, str], args: tuple[str, ...] = (), code: str = "PM205") -> list[Project]:
    """The project after each edit for such a finding, by default a learning rate that is too high."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    project = Project(folder=folder, args=args)
    lines = files["train.py"].splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "SGD" in text)
    finding = Finding(what="", why="", remedy="", code=code, where=Where(file="train.py", line=line))
    return [project.after(edit) for edit in edits_for(finding, project.source("train.py"))]


@pytest.mark.parametrize(
    ("files", "file", "old", "new"),
    [
        ({"train.py": MADE.format("5.0")}, "train.py", "lr=5.0", "lr=0.5"),
        ({"train.py": "LR = 5\n" + MADE.format("LR")}, "train.py", "LR = 5", "LR = 0.5"),
        ({"train.py": "from conf import LR\n" + MADE.format("LR"), "conf.py": "LR = 5.0  # why\n"},
         "conf.py", "LR = 5.0", "LR = 0.5"),
        ({"train.py": "parser.add_argument('-l', '--lr', type=float, default=5.0)\n" + MADE.format("args.lr")},
         "train.py", "default=5.0", "default=0.5"),
        ({"train.py": "from conf import Config\nconfig = Config()\n" + MADE.format("config.lr"),
          "conf.py": "@dataclass\nclass Config:\n    epochs: int = 3\n    lr: float = 5.0\n"},
         "conf.py", "lr: float = 5.0", "lr: float = 0.5"),
        ({"train.py": MADE.format("cfg.optim.lr"), "conf/optim.yaml": "# why\r\noptim:\r\n  lr: 5.0  # high\r\n"},
         "conf/optim.yaml", "lr: 5.0  #", "lr: 0.5  #"),
        ({"train.py": MADE.format("cfg.lr"), "conf.yaml": "lr: 30.0\n"}, "conf.yaml", "30.0", "3.0"),
        ({"train.py": MADE.format("cfg.lr"), "conf.yaml": "lr: 0.0001\n"}, "conf.yaml", "0.0001", "1.0e-05"),
        ({"train.py": MADE.format('cfg["lr"]'), "conf.json": '{"epochs": 3, "lr": 5.0}\n'},
         "conf.json", '"lr": 5.0}', '"lr": 0.5}'),
        ({"train.py": MADE.format('cfg["lr"]'), "conf.json": '{\n  "lr": 5.0,\n  "epochs": 3\n}\n'},
         "conf.json", '"lr": 5.0,', '"lr": 0.5,'),
        ({"train.py": MADE.format("cfg['train']['lr']"), "conf.toml": "[train]\nlr = 5e0\n"},
         "conf.toml", "lr = 5e0", "lr = 0.5"),
        ({"train.py": "class C:\n    base = 5.0\ngroups = [{'params': weights, 'lr': C.base * batch / 256}]\n"
                      "optimizer = torch.optim.SGD(groups, momentum=0.9)\n"},
         "train.py", "base = 5.0", "base = 0.5"),
    ],
    ids=["call", "name", "other file", "argparse", "dataclass", "yaml", "yaml stays a float",
         "yaml reads a number", "json", "json in lines", "toml", "groups"],
)  # fmt: skip
def test_where_it_is_set(tmp_path: Path, files: dict[str, str], file: str, old: str, new: str) -> None:
    first = cured(tmp_path, files)[0]
    assert first.changed() == {file: files[file].replace(old, new).encode()}


@pytest.mark.parametrize("words", [("--lr", "5"), ("--lr=5",), ("optim.lr=5", "epochs=3"), ("-x", "1", "--lr", "5.0")])
def test_the_command_line_goes_before_defaults(tmp_path: Path, words: tuple[str, ...]) -> None:
    script = "parser.add_argument('--lr', default=0.1)\n" + MADE.format("args.lr")
    first = cured(tmp_path, {"train.py": script}, words)[0]
    assert first.changed() == {}
    assert " ".join(first.args) == " ".join(words).replace("5.0", "5").replace("lr 5", "lr 0.5").replace(
        "lr=5", "lr=0.5"
    )


LOADER = "loader = DataLoader(data, shuffle={})  # SGD\n"


@pytest.mark.parametrize(
    ("files", "file", "old", "new"),
    [
        ({"train.py": LOADER.format("False")}, "train.py", "False", "True"),
        ({"train.py": "SHUFFLE = False\n" + LOADER.format("SHUFFLE")}, "train.py", "SHUFFLE = False", "SHUFFLE = True"),
        ({"train.py": "from conf import Data\n" + LOADER.format("Data().shuffle"),
          "conf.py": "@dataclass\nclass Data:\n    shuffle: bool = False  # fast\n"}, "conf.py", "False", "True"),
        ({"train.py": LOADER.format("cfg.data.shuffle"), "conf.yaml": "data:\r\n  shuffle: false  # fast\r\n"},
         "conf.yaml", "false", "true"),
        ({"train.py": LOADER.format('cfg["shuffle"]'), "conf.json": '{"shuffle": false, "epochs": 3}\n'},
         "conf.json", "false", "true"),
        ({"train.py": LOADER.format("len(data) < 9")}, "train.py", "len(data) < 9", "True"),
    ],
    ids=["call", "name", "dataclass", "yaml", "json", "computed"],
)  # fmt: skip
def test_a_switch_is_turned_where_it_is_set(
    tmp_path: Path, files: dict[str, str], file: str, old: str, new: str
) -> None:
    first = cured(tmp_path, files, code="PM306")[0]
    assert first.changed() == {file: files[file].replace(old, new).encode()}


def test_a_switch_of_the_command_line_is_typed(tmp_path: Path) -> None:
    script = "parser.add_argument('--shuffle', action='store_true')\n" + LOADER.format("args.shuffle")
    first = cured(tmp_path, {"train.py": script}, ("--epochs", "3"), code="PM306")[0]
    assert first.changed() == {} and first.args == ("--epochs", "3", "--shuffle")
    first = cured(tmp_path, {"train.py": script}, ("data.shuffle=false",), code="PM306")[0]
    assert first.changed() == {} and first.args == ("data.shuffle=true",)


def test_packages_below_the_folder_are_not_edited(tmp_path: Path) -> None:
    files = {"train.py": "from conf import LR\n" + MADE.format("LR")}
    files |= {
        f"{place}/conf.py": "LR = 5.0\n" for place in (".venv/lib/python3.12/site-packages", "env", "node_modules")
    }
    files["env/pyvenv.cfg"] = "home = /usr/bin\n"
    assert cured(tmp_path, files) == []

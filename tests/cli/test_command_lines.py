"""Scripts whose command line belongs to a library run as they are: arguments, output, verdict."""

from __future__ import annotations

import importlib.util

import pytest

from workshop import TRAIN, Workshop

SCRIPTS = {
    "absl": """
from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("steps", 1, "how many")

def main(argv):
    print("steps", FLAGS.steps, argv[1:])
    train(FLAGS.steps, softmax=True)

if __name__ == "__main__":
    app.run(main)
""",
    "typer": """
import typer

def main(name: str, steps: int = 1):
    print("steps", steps, [name])
    train(steps, softmax=True)

if __name__ == "__main__":
    typer.run(main)
""",
    "hydra": """
import hydra

@hydra.main(version_base=None, config_path="conf", config_name="train")
def main(config):
    print("steps", config.steps, [config.name])
    train(config.steps, softmax=True)

if __name__ == "__main__":
    main()
""",
}
GIVEN = {"absl": ("--steps=12", "a"), "typer": ("--steps", "12", "a"), "hydra": ("steps=12", "name=a")}


@pytest.mark.parametrize("library", SCRIPTS)
def test_a_script_keeps_its_command_line(warm_shop: Workshop, library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    warm_shop.write("train.py", TRAIN + SCRIPTS[library])
    warm_shop.write("conf/train.yaml", "steps: 1\nname: nobody\n")
    done = warm_shop.run("train.py", *GIVEN[library])
    assert done.code == 0 and done.stdout.splitlines()[0] == "steps 12 ['a']", done.stderr
    assert done.codes == ["PM502"] and done.found["findings"][0]["where"]["file"] == "train.py"
    assert done.found["run"]["steps"] == 12

"""A small project in which every command line of the documentation can be typed: the files that the pages speak of."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from paramedic.record.writer import Writer
from workshop import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(?:console|bash|sh|text|yaml)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_BEFORE = re.compile(r"^(?:\$ |- |entry: )")  # a prompt, or what a build server's file has before a command
_COMMAND = re.compile(r"(?:paramedic|torchrun|pip|make|python3?|pytest) ")

TRAIN = """
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        hidden = self.encoder(x)
        return self.head(hidden)


def batches(seed, shuffle):
    x = torch.randn(256, 8, generator=torch.Generator().manual_seed(seed))
    return DataLoader(TensorDataset(x, x[:, :3].argmax(1)), 16, shuffle=shuffle)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train, val = batches(1, True), batches(2, False)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        model.train()
        for inputs, targets in train:
            loss = F.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(inputs).argmax(1) == targets).sum().item() for inputs, targets in val)
        print(f"epoch {epoch}: {right / 256:.2f}")


if __name__ == "__main__":
    main()
"""
SICK = TRAIN.replace("return self.head(hidden)", "return self.head(hidden).softmax(dim=1)")
NAN = TRAIN.replace("loss = F.cross_entropy", "loss = torch.log(model(inputs).sum() * 0) + F.cross_entropy")
RANKS = TRAIN.replace("    torch.manual_seed(0)\n", '    torch.manual_seed(0)\n    dist.init_process_group("gloo")\n')
RANKS = RANKS.replace("import torch\n", "import torch\nimport torch.distributed as dist\n", 1)
RANKS = RANKS.replace("model = Net()", "model = nn.parallel.DistributedDataParallel(Net())")
RANKS = RANKS.replace(
    "16, shuffle=shuffle)",
    "16, sampler=torch.utils.data.DistributedSampler(x, shuffle=shuffle))",
).replace("        model.train()\n", "        model.train()\n        train.sampler.set_epoch(epoch)\n", 1)
RANKS = RANKS.replace('    print(f"epoch', '    dist.barrier()\n        print(f"epoch', 1)

MODEL = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        return self.head(self.conv(x).relu().mean((2, 3)))


def build():
    return Net()


def make_model():
    return nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
"""
PARSED = "options = parser.parse_args()"
PACKAGE = TRAIN.replace(PARSED, f'parser.add_argument("override"); {PARSED}')


def command_lines(pages: Sequence[Path] = PAGES) -> Iterator[str]:
    """What stands in the blocks of the documentation, as a reader would type it."""
    for page in pages:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                typed = re.sub(r"\s+#.*", "", _BEFORE.sub("", line.strip()))
                if _COMMAND.match(typed) and not typed.startswith("paramedic COMMAND"):
                    yield typed


def write_project(folder: Path) -> None:
    for name in ("model.py", "old.py", "new.py", "original.py", "ported.py"):
        (folder / name).write_text(MODEL)
    (folder / "train.py").write_text(TRAIN)
    (folder / "train_digits.py").write_text((ROOT / "examples" / "train_digits.py").read_text())
    package = folder / "mypackage"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "train.py").write_text(PACKAGE)
    _tables(folder)
    _pictures(folder)
    _weights(folder)
    _history(folder)
    _hosts(folder)


def _tables(folder: Path) -> None:
    from sklearn.datasets import load_iris

    x, y = load_iris(return_X_y=True)
    rows = [",".join([*(str(value) for value in row), "abc"[label]]) for row, label in zip(x, y, strict=True)]
    rows = list(dict.fromkeys(rows))
    for name, part in (("train", rows[::2]), ("val", rows[1::4]), ("test", rows[3::4])):
        lines = ["sepal_length,sepal_width,petal_length,petal_width,species", *part]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def _pictures(folder: Path) -> None:
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)

    def save(path: Path, values: np.ndarray) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(values.astype(np.uint8)).save(path)

    for label, colour in (("cats", 60), ("dogs", 160)):
        for number in range(20):
            save(folder / "images" / label / f"{number}.png", rng.normal(colour, 25, (16, 16, 3)).clip(0, 255))
    for number in range(20):
        scan = rng.integers(0, 255, (16, 16))
        save(folder / "scans" / "images" / f"{number}.png", scan)
        save(folder / "scans" / "masks" / f"{number}.png", scan > 128)
    boxes = [{"id": i, "image_id": i, "category_id": 1 + i % 2, "bbox": [2 + i, 3, 20, 10 + i]} for i in range(20)]
    images = [{"id": i, "file_name": f"{i}.jpg", "width": 64, "height": 64} for i in range(20)]
    kinds = [{"id": 1, "name": "car"}, {"id": 2, "name": "bus"}]
    text = json.dumps({"images": images, "annotations": boxes, "categories": kinds})
    (folder / "instances_train.json").write_text(text)


def _weights(folder: Path) -> None:
    import onnx
    import torch
    from safetensors.torch import save_file

    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    for name in ("before", "after", "epoch3"):
        torch.save(model.state_dict(), folder / f"{name}.pt")
    save_file(model.state_dict(), folder / "epoch4.safetensors")
    torch.save(torch.randn(2, 3, 32, 32), folder / "batch.pt")
    make = onnx.helper
    shape = make.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3, 32, 32])
    result = make.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = make.make_graph([make.make_node("Relu", ["x"], ["y"])], "net", [shape], [result])
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")


def _history(folder: Path) -> None:
    """Two commits of the script, for comparisons with the one before."""
    git(folder, "init", "-q")
    git(folder, "add", "train.py")
    git(folder, "commit", "-qm", "one")
    (folder / "train.py").write_text(TRAIN + "# as before\n")
    git(folder, "commit", "-qam", "two")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words], cwd=folder, check=True)


def _hosts(folder: Path) -> None:
    """What two machines have recorded of one training."""
    for rank in range(2):
        place = folder / f"node{rank}" / ".paramedic" / "runs" / "ID"
        about = {"rank": rank, "world_size": 2, "meeting": "here", "joined": 10.0 + rank, "steps": 12, "seconds": 2.0}
        writer = Writer(place / f"rank{rank}.db", meta=about)
        writer.start()
        writer.close()

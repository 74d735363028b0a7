"""`paramedic.setup_logging`: one call, in the script and in its children."""

from __future__ import annotations

from workshop import Workshop

SCRIPT = """
import logging, multiprocessing, sys
import torch
import paramedic

def work(method):
    logging.getLogger("my.module").warning("in a child that was made by %s", method)

if __name__ == "__main__":
    torch.manual_seed(7)
    own = logging.StreamHandler(sys.stdout)
    logging.getLogger().addHandler(own)
    model = torch.nn.Linear(3, 2)
    model.bias.requires_grad_(False)
    paramedic.setup_logging(file="other.log")
    paramedic.setup_logging(model, file="logs/train.log")
    logging.getLogger("my.module").info("hello")
    for method in METHODS:
        child = multiprocessing.get_context(method).Process(target=work, args=(method,))
        child.start()
        child.join()
    print(len(logging.getLogger().handlers), own in logging.getLogger().handlers)
"""


def test_console_and_file_with_names_and_times(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT.replace("METHODS", "['fork']"))
    done = warm_shop.python("train.py")
    lines = (warm_shop.folder / "logs" / "train.log").read_text().splitlines()
    assert done.code == 0 and done.stdout.splitlines()[-1] == "3 True", done.stderr
    words = [line.split(maxsplit=2)[2] for line in lines]
    assert words[1:] == [
        "INFO paramedic Linear: weight 2×3, 6",
        "INFO paramedic Linear: bias 2, 2, frozen",
        "INFO paramedic Linear: 8 parameters in total, 6 of them trainable",
        "INFO my.module hello",
        "WARNING my.module in a child that was made by fork",
    ]
    assert all(fact in words[0] for fact in ("python 3.", "torch ", "device ", "seed 7"))
    assert [line for line in lines if line not in done.stderr.splitlines()] == []


def test_watched_models_and_spawned_children_are_logged(shop: Workshop) -> None:
    more = """
    optimizer = torch.optim.SGD([model.weight], lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        model(torch.ones(4, 3)).sum().backward()
        optimizer.step()
"""
    shop.write("train.py", SCRIPT.replace("METHODS", "['spawn']") + more)
    assert shop.run("train.py").code == 0
    text = (shop.folder / "logs" / "train.log").read_text()
    assert text.count("in a child that was made by spawn") == 1
    assert "model: 8 parameters in total" in text

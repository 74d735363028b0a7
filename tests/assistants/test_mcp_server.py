"""`paramedic mcp`, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from paramedic.assistants.server import make_server
from paramedic.assistants.size import LARGEST, fitted
from workshop import TRAIN, Workshop

NAMES = {"run", "check", "report", "explain", "diagnose", "audit", "compare", "shapes"}


def ask(server: Any, question: Callable[[Client], Awaitable[Any]]) -> Any:
    async def conversation() -> Any:
        async with Client(server) as client:
            return await question(client)

    return asyncio.run(conversation())


def call(folder: Path, tool: str, **arguments: Any) -> Any:
    return ask(make_server(folder), lambda client: client.call_tool(tool, arguments))


def refused(folder: Path, tool: str, **arguments: Any) -> str:
    answer = call(folder, tool, **arguments)
    assert answer.is_error
    return str(answer.content[0].text)


def test_the_tools_are_described(tmp_path: Path) -> None:
    tools = {tool.name: tool for tool in ask(make_server(tmp_path), lambda client: client.list_tools()).tools}
    assert set(tools) == NAMES and all(tool.description for tool in tools.values())
    assert tools["check"].input_schema["required"] == ["script"]


def test_a_script_is_checked_over_stdio(shop: Workshop) -> None:
    shop.write("train.py", TRAIN + "import sys\nprint('lr', sys.argv[1:])\ntrain(12, softmax=True)\n")
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "paramedic", "mcp", "--project", str(shop.folder)], env=shop.env
    )

    async def question(client: Client) -> Any:
        checked = await client.call_tool("check", {"script": "train.py", "args": ["--lr", "1"]})
        return checked, await client.call_tool("report", {})

    checked, again = ask(command, question)
    found = checked.structured_content
    assert not checked.is_error and found["verdict"] == "sick" and found["findings"][0]["code"] == "PM502"
    assert found["findings"][0]["where"]["file"] == "train.py"
    assert found["process"]["exit_code"] == 1 and found["process"]["stdout"] == "lr ['--lr', '1']"
    assert again.structured_content["findings"] == found["findings"]


MODELS = """
from torch import nn

def build():
    return nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3))

def other():
    return nn.Sequential(nn.Linear(6, 4), nn.GELU(), nn.Linear(4, 3))
"""


def test_models_and_data_are_looked_at(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", shop.env)
    shop.write("model.py", MODELS)
    rows = [f"{i % 7},{i % 5},{'ab'[i % 2]}" for i in range(90)]
    shop.write("train.csv", "\n".join(["one,two,kind", *rows]))
    shapes = call(shop.folder, "shapes", target="model.py:build", inputs=["2,6"]).structured_content
    assert shapes["rows"][0]["outputs"] == "(batch, 3)"
    compared = call(shop.folder, "compare", a="model.py:build", b="model.py:other", inputs=["2,6"]).structured_content
    assert compared["verdict"] == "differ"
    audited = call(shop.folder, "audit", data="train.csv").structured_content
    assert audited["findings"][0]["code"] == "PM308"


def test_a_rule_is_explained(tmp_path: Path) -> None:
    found = call(tmp_path, "explain", rule="softmax-before-cross-entropy").structured_content
    assert found["code"] == "PM502" and "Why it hurts" in found["documentation"]
    assert "PM999999" in refused(tmp_path, "explain", rule="PM999999")


@pytest.mark.parametrize("word", ["../secret.py", "/etc/passwd", "link.py", "--runs=/tmp", "-m", "missing.py"])
def test_paths_stay_inside_the_project(tmp_path: Path, word: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.py").write_text("print('ran')")
    (project / "link.py").symlink_to(tmp_path / "secret.py")
    for tool, name in (("run", "script"), ("audit", "data"), ("shapes", "target"), ("report", "run")):
        assert "project" in refused(project, tool, **{name: word})
    assert "project" in refused(project, "compare", a=f"{word}:build", b="x.pt")


def test_inputs_stay_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    assert "inside the project" in refused(tmp_path, "shapes", target="model.py:Net", inputs=["/etc/passwd"])


def test_a_failing_command_says_why(tmp_path: Path) -> None:
    assert "there are no runs" in refused(tmp_path, "report")


def test_a_script_that_never_ends_is_ended(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", shop.env)
    shop.write("train.py", "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    assert refused(shop.folder, "run", script="train.py", seconds=8)
    with pytest.raises(ProcessLookupError):
        os.kill(int((shop.folder / "pid").read_text()), 0)


def test_large_answers_are_cut_and_say_so() -> None:
    large = {"verdict": "sick", "findings": [{"what": "x" * 100, "samples": list(range(1000))} for _ in range(300)]}
    small = fitted(large)
    assert len(json.dumps(small)) <= LARGEST and "lists after" in small["left_out"]
    assert small["findings"][0]["what"] == large["findings"][0]["what"]  # type: ignore[index]
    assert fitted({"verdict": "healthy"}) == {"verdict": "healthy"}
    huge = fitted({"verdict": "sick", **{f"key{n}": "x" * 1000 for n in range(5000)}})
    assert huge["verdict"] == "sick" and len(json.dumps(huge)) <= LARGEST

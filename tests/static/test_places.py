"""Lines that a finding names besides the one on which the fault shows, over source text alone."""

from __future__ import annotations

import ast
import textwrap

import pytest

from paramedic.findings import Where
from paramedic.static.attributes import buffer_size_at, padding_is_end, set_in_init
from paramedic.static.clearing import cleared_outside
from paramedic.static.history import Link
from paramedic.static.program import Program
from paramedic.static.reads import read_at
from paramedic.static.signs import repeats_a_value, seeds
from paramedic.static.updating import blended_with_itself_at, held_back_at

FILE = "train.py"


def lines(text: str) -> list[str]:
    return textwrap.dedent(text).strip("\n").splitlines()


def read(text: str) -> Program:
    return Program({FILE: "\n".join(lines(text))})


def said(text: str, link: Link | None) -> str | None:
    return lines(text)[link.line - 1].strip() if link is not None else None


def place(text: str, code: str) -> Where:
    return Where(file=FILE, line=next(n for n, line in enumerate(lines(text), 1) if code in line))


ONCE_PER_EPOCH = """
    for epoch in range(3):
        opt.zero_grad()
        for x in data:
            loss(x).backward()
            opt.step()
"""
IN_A_FUNCTION = """
    def one_step(x):
        loss(x).backward()
        opt.step()

    opt.zero_grad()
    for x in data:
        one_step(x)
"""
SOMETIMES_INSIDE = """
    for epoch in range(3):
        for x in data:
            loss(x).backward()
            if ready():
                opt.zero_grad()
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [(ONCE_PER_EPOCH, "opt.zero_grad()"), (IN_A_FUNCTION, "opt.zero_grad()"), (SOMETIMES_INSIDE, None)],
)
def test_gradients_cleared_outside_of_the_loop(text: str, found: str | None) -> None:
    assert said(text, cleared_outside(read(text), place(text, "backward()"))) == found


SYNC = """
    target.load_state_dict(policy.state_dict())
    while training:
        if done:
            reset()
        if steps % 100 == 0:
            target.load_state_dict(policy.state_dict())
"""
SYNC_IN_A_METHOD = """
    class Agent:
        def sync(self):
            self.target.load_state_dict(self.policy.state_dict())

        def learn(self):
            if self.steps % 100 == 0:
                self.sync()
"""


@pytest.mark.parametrize(
    ("text", "found"), [(SYNC, "if steps % 100 == 0:"), (SYNC_IN_A_METHOD, "if self.steps % 100 == 0:")]
)
def test_the_condition_that_holds_an_update_back(text: str, found: str) -> None:
    assert said(text, held_back_at(read(text), "target", {(FILE, 1)})) == found


def test_two_conditions_are_no_answer() -> None:
    text = SYNC + "    if late:\n        target.load_state_dict(policy.state_dict())\n"
    assert held_back_at(read(text), "target", {(FILE, 1)}) is None


def test_a_generator_made_in_init() -> None:
    text = """
        class Noisy:
            def __init__(self, seed):
                self.rng = np.random.default_rng(seed)

        class Other:
            def __init__(self):
                self.rng = None
    """
    assert said(text, set_in_init(read(text), "Noisy", "rng")) == "self.rng = np.random.default_rng(seed)"
    assert set_in_init(read(text), "Unknown", "rng") is None  # two classes have one


@pytest.mark.parametrize(
    "line",
    [
        "tok.pad_token = tok.eos_token",
        "PAD = EOS",
        "self.pad_token_id = self.eos_token_id",
        'tok = Tokenizer(eos_token="</s>", unk_token="?", pad_token="</s>")',
    ],
)
def test_padding_that_is_the_end(line: str) -> None:
    text = f"x = 1\n{line}\npad = tok.pad_token_id"
    assert said(text, padding_is_end(read(text))) == line


@pytest.mark.parametrize("line", ['Tokenizer(eos="</s>", pad="_")', "net.generate(x, pad_token_id=tok.eos_token_id)"])
def test_padding_of_its_own(line: str) -> None:
    assert padding_is_end(read(line)) is None


SOFT = """
    class Agent:
        def __init__(self):
            self.target = deepcopy(self.q)

        def blend(self):
            theirs = dict(self.{model}.named_parameters())
            for name, p in self.target.named_parameters():
                p.copy_(0.99 * p + 0.01 * theirs[name])
"""


def test_a_copy_that_is_blended_with_itself() -> None:
    text = SOFT.format(model="target")
    assert said(text, blended_with_itself_at(read(text), "target", "q")) is not None
    assert blended_with_itself_at(read(SOFT.format(model="q")), "target", "q") is None


def test_one_seed_for_two_draws() -> None:
    assert seeds(ast.parse("np.random.default_rng((seed, i))"))
    assert not seeds(ast.parse("np.random.default_rng()"))


def test_an_argument_that_a_module_inside_makes_alike() -> None:
    text = """
        class Clock:
            def forward(self, t):
                {made}
                return self.proj(phase)

        class Net:
            def __init__(self):
                self.clock = Clock()

            def forward(self, x, t):
                return self.out(x, self.clock(t))
    """
    alike, other = (text.format(made=made) for made in ("phase = t // self.steps", "phase = t / self.steps"))
    assert said(alike, read_at(read(alike), "Net", "forward", "t")) == "phase = t // self.steps"
    assert said(other, read_at(read(other), "Net", "forward", "t")) == "return self.out(x, self.clock(t))"


def test_a_buffer_with_two_sizes_is_no_answer() -> None:
    assert said("CFG = dict(lr=1e-3, buffer=64)", buffer_size_at(read("CFG = dict(lr=1e-3, buffer=64)"))) is not None
    assert buffer_size_at(read("a.shuffle(buffer_size=9)\nb.shuffle(buffer_size=8)")) is None


@pytest.mark.parametrize(
    ("code", "once"), [("[f(x)] * 2", False), ("view, view", False), ("f(x), f(x)", True), ("a * b, c", True)]
)
def test_one_object_in_two_places(code: str, once: bool) -> None:
    assert repeats_a_value(ast.parse(code)) is not once

"""From the line on which a fault shows to the statement that must be edited, over source text alone."""

from __future__ import annotations

import ast
import textwrap

import pytest

from paramedic.static.blocks import last_branch, without_gradients
from paramedic.static.calls import second_call, taken_at
from paramedic.static.collecting import collected_at
from paramedic.static.history import Link, history
from paramedic.static.program import Program, Scope, called, calls_at, statement_at
from paramedic.static.reads import read_at
from paramedic.static.rebuilding import rebuilt_at
from paramedic.static.signs import (
    can_break,
    counts,
    divides,
    draws_again,
    draws_an_order,
    makes_alike,
    mirrors,
    reshapes,
)
from paramedic.static.sums import added_at
from paramedic.static.triangles import is_causal

FILE = "train.py"


def read(text: str) -> Program:
    return Program({FILE: textwrap.dedent(text).strip("\n")})


def marked(text: str, mark: str = "# here") -> int:
    return next(n for n, line in enumerate(textwrap.dedent(text).strip("\n").splitlines(), 1) if mark in line)


def made(text: str, *, argument: int = 0) -> list[str]:
    """The lines, without comments, that made an argument of the call on the marked line."""
    program, line = read(text), marked(text)
    scope = program.scope(FILE, line)
    assert scope is not None
    call = next(call for call in calls_at(scope, line) if called(call) in ("model", "loss_fn"))
    return shown(text, history(program, scope, call.args[argument]))


def shown(text: str, links: list[Link]) -> list[str]:
    lines = textwrap.dedent(text).strip("\n").splitlines()
    return [lines[link.line - 1].partition("#")[0].strip() for link in links]


def test_the_last_assignment_before_the_line_counts():
    text = """
    x = first()
    x = x // 255
    model(x)  # here
    x = later()
    """
    assert made(text) == ["x = x // 255", "x = first()"]


def test_an_assignment_in_a_branch_may_not_have_happened():
    text = """
    x = read()
    if flag:
        x = scale(x)
    model(x)  # here
    """
    assert made(text) == ["x = scale(x)", "x = read()"]


def test_in_a_loop_the_next_round_sees_what_comes_later():
    text = """
    for step in range(9):
        model(state)  # here
        state = advance()
    """
    assert made(text) == ["state = advance()"]


def test_from_a_batch_to_the_element_that_the_dataset_returns():
    text = """
    class Data:
        def __init__(self, masks):
            self.masks = masks

        def __getitem__(self, i):
            image, mask = self.images[i], self.masks[i]
            mask = mask.flip(-1)
            return image, mask

    full = Data(torch.load("masks.pt"))
    train, val = random_split(full, [80, 20])
    loader = DataLoader(train, batch_size=4)
    for image, mask in loader:
        loss_fn(model(image), mask)  # here
    """
    history = made(text, argument=1)
    assert "mask = mask.flip(-1)" in history
    assert history.index("return image, mask") < history.index("mask = mask.flip(-1)")
    assert not any("image = " in line for line in history)


def test_a_dictionary_is_followed_by_its_key():
    text = """
    def collate(rows):
        ids = stack(rows)
        kept = ids.clone()
        return {"ids": ids, "labels": kept}

    for batch in DataLoader(rows, collate_fn=collate):
        loss_fn(model(batch["ids"]), batch["labels"])  # here
    """
    history = made(text, argument=1)
    assert history[1:3] == ['return {"ids": ids, "labels": kept}', "kept = ids.clone()"]


def test_one_helper_called_twice_is_entered_by_the_call_that_is_meant():
    text = """
    def tensors(rows):
        return torch.tensor(rows)

    train = tensors(left)
    val = tensors(right)
    left = part(0)
    right = part(1)

    def main():
        model(val)  # here
    """
    history = made(text)
    assert "right = part(1)" in history
    assert "left = part(0)" not in history


def test_a_transform_handed_to_the_dataset_is_entered():
    text = """
    class Flip:
        def __call__(self, image, box):
            box = size - box
            return image, box

    class Data:
        def __init__(self, transform):
            self.transform = transform

        def __getitem__(self, i):
            image, box = self.transform(images[i], boxes[i])
            return image, box

    for image, box in DataLoader(Data(Flip())):
        loss_fn(model(image), box)  # here
    """
    assert "box = size - box" in made(text, argument=1)


def test_what_is_called_from_several_places_is_followed_to_all_of_them():
    text = """
    def evaluate(x):
        return model(x)  # here

    evaluate(one)
    evaluate(two)
    """
    assert made(text) == ["evaluate(one)", "evaluate(two)"]


def test_a_file_that_does_not_parse_is_left_out():
    assert Program({FILE: "def ("}).scope(FILE, 1) is None


def test_a_program_that_goes_round_in_circles_ends():
    text = """
    def f(x):
        return g(x)

    def g(x):
        return f(x)

    model(f(1))  # here
    """
    assert set(made(text)) == {"return g(x)", "return f(x)"}


@pytest.mark.parametrize(
    ("sign", "yes", "no"),
    [
        (can_break, "(w - w.mean()) / w.std()", "(w - w.mean()) / (w.std() + 1e-6)"),
        (can_break, "x.log()", "x / 255"),
        (can_break, "a / b.sum()", "a / b.sum().clamp(min=1)"),
        (makes_alike, "img // 255", "img / 255"),
        (makes_alike, "np.zeros(9)", "np.load(name)"),
        (mirrors, "t.flip(-1)", "t.float()"),
        (mirrors, "img[:, ::-1]", "img[:, ::2]"),
        (divides, "mask / 255", "mask * 2"),
        (draws_an_order, "y[torch.randperm(len(y))]", "y[order]"),
        (reshapes, "torch.from_numpy(x.reshape(n, c, h, w))", "x.permute(0, 3, 1, 2).reshape(n, c, h, w)"),
        (reshapes, "x.view((n, 3, 8, 8))", "x.view(n, -1)"),
        (draws_again, "rng.choice(rare, size=n, replace=True)", "rng.choice(kinds, size=n)"),
        (draws_again, "resample(rows, n_samples=n)", "resample(rows, replace=False)"),
        (counts, "torch.arange(ways).repeat(queries)", "torch.arange(n)"),
    ],
)
def test_what_an_expression_may_do(sign, yes, no):
    assert sign(ast.parse(yes, mode="eval"))
    assert not sign(ast.parse(no, mode="eval"))


def scope_of(text: str) -> tuple[Scope, int]:
    scope = read(text).scope(FILE, marked(text))
    assert scope is not None
    return scope, marked(text)


def test_gradients_are_off_below_a_decorator_and_inside_a_block():
    decorated = """
    @torch.no_grad()
    def evaluate():
        model(x)  # here
    """
    block = """
    with torch.inference_mode():
        model(x)  # here
    """
    assert without_gradients(*scope_of(decorated))
    assert without_gradients(*scope_of(block))
    assert not without_gradients(*scope_of("model(x)  # here"))


def test_the_last_branch_of_a_chain():
    text = """
    for name, p in model.named_parameters():
        if "bias" in name:
            a.append(p)  # here
        elif "weight" in name:
            b.append(p)
    """
    branch = last_branch(*scope_of(text))
    assert branch is not None and ast.unparse(branch.test) == "'weight' in name"


def test_the_statement_of_a_line_inside_a_loop_is_the_innermost():
    scope, line = scope_of("for x in loader:\n    y = f(x)  # here")
    assert isinstance(statement_at(scope, line), ast.Assign)
    assert isinstance(statement_at(scope, 1), ast.For)


def test_the_second_phase_is_the_second_call():
    text = """
    def fit(steps):
        scheduler.step()  # here

    fit(100)
    fit(300)
    """
    program = read(text)
    scope = program.scope(FILE, marked(text))
    assert scope is not None
    again = second_call(program, scope.where(marked(text)))
    assert again is not None and again.line == 5
    assert second_call(read(text.replace("fit(300)", "")), scope.where(2)) is None


def test_layers_put_into_a_model_that_exists():
    text = """
    def shrink(net):
        net.first = nn.Linear(4, 2)

    class Net:
        def __init__(self):
            self.first = nn.Linear(4, 4)

    shrink(net)
    """
    link = rebuilt_at(read(text), {"first"})
    assert link is not None and link.line == 8


def test_where_a_term_is_added():
    text = """
    def rollout():
        entropies.append(dist.entropy())  # here
        return torch.stack(entropies)

    entropy = rollout()
    loss = policy + 0.1 * entropy.mean()
    """
    program = read(text)
    scope = program.scope(FILE, marked(text))
    assert scope is not None
    link = added_at(program, scope.where(marked(text)))
    assert link is not None and link.line == 6


@pytest.mark.parametrize(
    ("made", "used", "right"),
    [
        ("torch.triu(torch.ones(T, T), diagonal=1).bool()", "self.mask", True),
        ("torch.triu(torch.ones(T, T), diagonal=2).bool()", "self.mask", False),
        ("torch.tril(torch.ones(T, T)).bool()", "~self.mask", True),
        ("torch.tril(torch.ones(T, T)).bool()", "self.mask", False),
    ],
)
def test_the_right_triangle(made, used, right):
    text = f"""
    class Attention:
        def __init__(self):
            self.register_buffer("mask", {made})  # here

        def forward(self, scores):
            return scores.masked_fill({used}, -torch.inf)
    """
    assert is_causal(*scope_of(text)) is right


@pytest.mark.parametrize(
    ("body", "line"),
    [("x = x + 0 * weather\n        return x", 3), ("if weather is None:\n            pass\n        return x", 2)],
)
def test_where_a_method_reads_its_argument(body, line):
    source = f"class Net:\n    def forward(self, x, weather):\n        {body}\n"
    link = read_at(Program({FILE: source}), "Net", "forward", "weather")
    assert link is not None and link.line == line


def test_where_parameters_are_collected_without_buffers():
    text = """
    for name, tensor in model.named_parameters():
        average[name] = tensor.clone()
    for p in model.parameters():
        p.requires_grad_(False)
    """
    link = collected_at(read(text))
    assert link is not None and link.line == 1


def test_what_is_returned_in_a_state_of_its_own_is_taken_by_the_only_call():
    text = """
    def from_file(path):
        net = Net()
        return net.eval()  # here

    backbone = from_file("net.pt")
    """
    program = read(text)
    scope = program.scope(FILE, marked(text))
    assert scope is not None
    link = taken_at(program, scope.where(marked(text)))
    assert link is not None and link.line == 5
    assert taken_at(program, scope.where(2)) is None


def test_values_that_are_handed_through_one_call_together_do_not_lead_back_without_end() -> None:
    text = """
    def main(model, optimizer, train, val):
        model, optimizer, train, val = prepare(
            model, optimizer, train, val)
        for x, y in train:
            model(x)  # here
    """
    assert any("prepare" in line for line in made(text))

"""Replacing functions of torch: what the user puts on top of ours stays, and is always called."""

from __future__ import annotations

from types import SimpleNamespace

from paramedic.patching import Patches
from workshop import TRAIN, Workshop


def plain() -> str:
    return "plain"


def ours() -> str:
    return "ours"


def theirs() -> str:
    return "theirs"


def test_what_is_ours_is_taken_away() -> None:
    owner, patches = SimpleNamespace(f=plain), Patches()
    patches.set(owner, "f", ours)
    assert patches.standing() and owner.f is ours
    patches.undo()
    assert owner.f is plain and patches.standing() == []


def test_what_somebody_put_on_top_stays() -> None:
    owner, patches = SimpleNamespace(f=plain), Patches()
    patches.set(owner, "f", ours)
    owner.f = theirs
    with patches.paused():
        assert owner.f is theirs
    assert owner.f is theirs and not patches.take_back(owner, "f")
    patches.undo()
    assert owner.f is theirs


def test_a_stand_in_ends_when_all_is_undone_and_leaves_what_somebody_put_on_top() -> None:
    owner, patches = SimpleNamespace(f=plain), Patches()
    patches.set(owner, "f", ours)
    patches.stand_in(owner, "f", theirs)
    assert owner.f is theirs
    patches.undo()
    assert owner.f is plain
    end = patches.stand_in(owner, "f", ours)
    owner.f = theirs
    end()
    assert owner.f is theirs and patches.standing() == []


def test_a_pause_shows_the_original_and_keeps_what_was_put_there_meanwhile() -> None:
    owner, patches = SimpleNamespace(f=plain, g=plain), Patches()
    patches.set(owner, "f", ours)
    patches.set(owner, "g", ours)
    with patches.paused():
        assert owner.f is plain
        owner.g = theirs
    assert (owner.f, owner.g) == (ours, theirs)


def test_the_scripts_own_patch_of_module_calls_sees_every_call(warm_shop: Workshop) -> None:
    body = """
seen = 0
call = nn.Module.__call__

def counted(self, *args, **kwargs):
    global seen
    seen += isinstance(self, nn.Sequential)
    return call(self, *args, **kwargs)

nn.Module.__call__ = counted
train(40)
print(seen, nn.Module.__call__ is counted)
"""
    warm_shop.write("train.py", TRAIN + body)
    assert warm_shop.run("train.py").stdout == "40 True\n"


def test_doctor_lists_what_a_run_replaces_in_torch_and_in_python(shop: Workshop) -> None:
    done = shop.paramedic("doctor", "--patches")
    listed = {line.strip() for line in done.stdout.splitlines()}
    assert done.code == 0 and {"torch.save", "os.close", "threading.excepthook"} <= listed

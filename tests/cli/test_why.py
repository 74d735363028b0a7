"""`paramedic why`: check, audit and experiments, joined in one verdict."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from paramedic.findings import Abstention, Diagnosis, Evidence, Finding, RunFacts, Where
from paramedic.lab.checking import one_verdict
from paramedic.lab.verdict import Conclusion
from paramedic.reports import json as contract
from paramedic.rules.catalogue import all_rules
from workshop import Workshop

LEAK = Finding(
    code="PM307", name="train-validation-overlap", severity="error", what="40 samples", why="w", remedy="r",
    where=Where(file="train.py", line=3), evidence=(Evidence(name="shared", value=40, limit="0"),), samples=(1, 2),
    files=("a.png", "b.png"), columns=("age",),
)  # fmt: skip
SLOW = replace(LEAK, code="PM701", name="data-starved", severity="warning", samples=(), files=(), columns=())
HEALTHY = Diagnosis(
    verdict="healthy",
    findings=(),
    clear=("PM307", "PM502"),
    abstained=(Abstention(code="PM701", reason="too short"),),
    crashed=(),
    run=RunFacts(id="a", record="b", steps=20, data=("train: 600 samples",)),
)


def concluded(cause: str, confidence: float = 0.9) -> Conclusion:
    made = object.__new__(Conclusion)  # whatever else a conclusion holds
    for name in Conclusion.__dataclass_fields__:
        object.__setattr__(made, name, ())
    return replace(made, cause=cause, confidence=confidence, because="it learns", diagnosis=HEALTHY)  # type: ignore[arg-type]


def report(*findings: Finding) -> dict[str, object]:
    found: dict[str, object] = json.loads(contract.render(replace(HEALTHY, findings=findings)))
    return found


def test_findings_survive_the_way_through_json() -> None:
    assert contract.findings_in(report(LEAK, SLOW)) == [LEAK, SLOW]


@pytest.mark.parametrize("cause", ["none", "unknown"])
def test_what_the_audit_found_names_the_cause_where_experiments_do_not(cause: str) -> None:
    joined = one_verdict(concluded(cause), report(LEAK), all_rules())
    assert joined.cause == "data" and joined.because.startswith("PM307 train-validation-overlap: 40 samples")
    assert joined.diagnosis.verdict == "sick" and joined.diagnosis.clear == ("PM502",)
    assert joined.diagnosis.run.data == ("train: 600 samples",)


def test_a_cause_that_experiments_have_shown_stays() -> None:
    joined = one_verdict(concluded("model"), report(LEAK), all_rules())
    assert joined.cause == "model" and joined.because == "it learns"
    assert [finding.code for finding in joined.diagnosis.findings] == ["PM307"]


def test_a_slow_loop_is_no_reason_for_a_bad_result() -> None:
    joined = one_verdict(concluded("none"), report(SLOW), all_rules())
    assert joined.cause == "none" and joined.diagnosis.abstained == ()


def test_the_whole_flow_on_a_script_whose_labels_mean_nothing(shop: Workshop) -> None:
    shop.write(
        "train.py",
        """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        torch.manual_seed(0)
        x, y = torch.randn(400, 6), torch.randint(0, 2, (400,))
        model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for epoch in range(3):
            for a, b in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
                loss = nn.functional.cross_entropy(model(a), b)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        torch.save(model.state_dict(), "model.pt")
        """,
    )
    done = shop.paramedic("why", "--json", "out.json", "train.py")
    assert done.code == 1 and done.found["cause"] == "data", done.stderr
    assert "PM322" in done.codes and done.stderr.count("Verdict:") == 1
    assert not (shop.folder / "model.pt").exists() and done.stdout == ""

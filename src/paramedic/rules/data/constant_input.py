"""PM303."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at


@rule("PM303", "constant-input", severity="warning", needs=["loader", "batch"], causes=["PM209", "PM207"])
def check(run: Run, *, fewest: int = 4) -> Iterator[Finding]:
    """Every sample has the same input.

    ## Why it hurts
    There is nothing to learn from. Typical: integers divided into zeros (`image // 255`), a file that failed to load
    and was replaced by zeros, a wrong index.

    ## What to try first
    Look at a few samples as the loader gives them.

    ## When this is wrong
    When the input carries no information on purpose. Single columns or channels that never vary are
    reported by `paramedic audit` only.

    ## Options
    `fewest`: batches to be seen.
    """
    trained = {event["loader"] for event in run.events("train_forward")}
    judged = 0
    for loader in run.events("loader"):
        batches = [b for b in run.events("batch") if b["loader"] == loader["number"] and b["tensors"]]
        if loader["number"] not in trained or len(batches) < fewest:
            continue
        inputs = [batch["tensors"][0] for batch in batches]
        measured = [
            t["values"] for t in inputs if t.get("values") and "float" in t["dtype"] and t["values"]["size"] > 8
        ]
        judged += bool(measured)
        if len(measured) < fewest or any(v["min"] != v["max"] for v in measured):
            continue
        value = measured[0]["min"]
        if any(v["min"] != value for v in measured):
            continue
        yield Finding(
            what=f"all inputs of {len(measured)} examined training batches are {value:g} everywhere",
            why="every sample looks the same to the model",
            remedy="check how the dataset makes a sample: a failed load, an integer division, a wrong index",
            where=at(loader, loader.get("reader")),
            evidence=(Evidence(name="range", value=0.0, limit="> 0"),),
            confidence=0.93,
        )
    if not judged:
        raise Abstain("no batches of floating-point inputs were seen in training")

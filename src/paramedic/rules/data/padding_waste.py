"""PM315."""

from collections.abc import Iterator

from paramedic.rules import Abstain, Evidence, Finding, Run, rule


@rule("PM315", "padding-waste", severity="warning", needs=["tokens"])
def check(run: Run, *, share: float = 0.5, fewest: int = 4) -> Iterator[Finding]:
    """Most of what the model computes is padding.

    ## Why it hurts
    Time and memory: half of the positions or more hold nothing.

    ## What to try first
    Sort or bucket the sequences by length, and pad each batch only to its own longest sequence.

    ## When this is wrong
    When the rows end in the same token for another reason than padding.

    ## Options
    `share`: the share of padding from which on it is mentioned; `fewest`: batches to be seen.
    """
    batches = [event for event in run.events("tokens", phase="train") if event["rows"] > 1 and event["longest"] > 1]
    if len(batches) < fewest:
        raise Abstain("too few batches of padded token ids were seen")
    padding = sum(event["padding"] for event in batches) / sum(event["rows"] * event["width"] for event in batches)
    if padding > share and len({event["value"] for event in batches}) == 1:
        yield Finding(
            what=f"{padding:.0%} of the positions in {len(batches)} batches are padding (id {batches[0]['value']})",
            why="the model computes all of them",
            remedy="batch sequences of similar length together, and pad each batch to its own longest",
            where=batches[0].where,
            evidence=(Evidence(name="padding", value=round(padding, 3), limit=f"≤ {share:g}"),),
            confidence=0.8,
            severity="note",  # it costs time, not the result
        )

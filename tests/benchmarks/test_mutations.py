"""The mutants of the accuracy benchmark: every replacement finds its place, and what comes out is a program."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.accuracy import mutations

from paramedic.rules.catalogue import all_rules


def test_every_mutant_is_a_program_that_differs_from_its_base(tmp_path: Path) -> None:
    scripts = mutations.write(tmp_path)
    mutants = mutations.all_mutations()
    assert len({(mutant.base, mutant.name) for mutant in mutants}) == len(mutants) > 100
    for mutant in mutants:
        sick, base = (scripts[f"{mutant.base}/{name}"].read_text() for name in (mutant.name, "healthy"))
        ast.parse(sick)
        assert ast.dump(ast.parse(sick)) != ast.dump(ast.parse(base))
        assert (f"# <- {mutant.codes[0]}" in sick) == mutant.has_line and mutations.MARK not in sick


def test_every_expected_code_is_a_rule() -> None:
    known = {rule.code for rule in all_rules()}
    assert {mutant.codes[0] for mutant in mutations.all_mutations()} <= known

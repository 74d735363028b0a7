"""Which rules are asked, with which options: command line, settings files, comments, rules of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.warm import Warm

from workshop import TRAIN, Workshop


@pytest.fixture
def warm_shop(warm_shop: Workshop) -> Workshop:
    """How a process starts is not the subject here."""
    return warm_shop


@pytest.fixture(scope="module")
def sick(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Workshop:
    """A recorded run with one error (PM502) that every test may report on."""
    warm_shop = Workshop(tmp_path_factory.mktemp("sick"), warm)
    warm_shop.write("train.py", TRAIN + "train(12, softmax=True)\n")
    assert warm_shop.run("train.py").codes == ["PM502"]
    return warm_shop


def report(warm_shop: Workshop, *options: object) -> list[str]:
    done = warm_shop.paramedic("report", "--json", "out.json", *options)
    assert done.code == bool(done.alarms), done.stderr
    return done.codes


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--select", "PM502"), True),
        (("--select", "pm502"), True),
        (("--select", "softmax-before-cross-entropy"), True),
        (("--select", "PM5"), True),
        (("--select", "PM4,PM502"), True),
        (("--select", "PM4", "--select", "PM502"), True),
        (("--select", "PM4"), False),
        (("--select", "gradients-not-cleared"), False),
        (("--ignore", "PM502"), False),
        (("--ignore", "softmax-before-cross-entropy"), False),
        (("--ignore", "PM5"), False),
        (("--ignore", "PM4"), True),
        (("--select", "PM5", "--ignore", "PM502"), False),
    ],
)
def test_rules_are_chosen_by_code_name_or_prefix(sick: Workshop, options: tuple[str, ...], found: bool) -> None:
    assert report(sick, *options) == (["PM502"] if found else [])


def test_only_the_chosen_rules_are_asked(sick: Workshop) -> None:
    rules = sick.paramedic("report", "--json", "out.json", "--select", "PM4").found["rules"]
    asked = rules["clear"] + [rule["code"] for rule in rules["abstained"]]
    assert asked and all(code.startswith("PM4") for code in asked)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("softmax-before-crossentropy", "softmax-before-cross-entropy"),
        ("PM592", "PM5"),
        ("gradient-not-cleared", "gradients-not-cleared"),
    ],
)
@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_word_is_answered_with_the_nearest_name(sick: Workshop, option: str, word: str, near: str) -> None:
    done = sick.paramedic("report", option, word)
    assert done.code == 2 and repr(word) in done.stderr and "Traceback" not in done.stderr
    assert f"did you mean {near}" in done.stderr


def test_an_unknown_word_stops_a_run_before_the_script(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", "print('ran')")
    done = warm_shop.paramedic("run", "--select", "PM999", "train.py")
    assert (done.code, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("# paramedic: ignore[PM502]", False),
        ("# paramedic: ignore[softmax-before-cross-entropy]", False),
        ("#paramedic:ignore[PM601, PM502] on purpose", False),
        ("# paramedic: ignore[PM5]", False),
        ("# paramedic: ignore[PM601]", True),
        ("# ignore PM502", True),
    ],
)
def test_a_comment_on_the_line_ignores_a_finding(warm_shop: Workshop, comment: str, found: bool) -> None:
    line = "            out = out.softmax(dim=1)"
    assert line in TRAIN
    warm_shop.write("train.py", TRAIN.replace(line, f"{line}  {comment}") + "train(8, softmax=True)\n")
    done = warm_shop.run("train.py", options=("--select", "PM5"))
    assert done.codes == (["PM502"] if found else [])
    assert done.found["verdict"] == ("sick" if found else "healthy")


@pytest.fixture
def copy(sick: Workshop, tmp_path: Path) -> Workshop:
    """The sick run seen from a folder of one's own, for settings files."""
    warm_shop = Workshop(tmp_path)
    warm_shop.env["PARAMEDIC_RUNS"] = str(sick.folder / ".paramedic" / "runs")
    return warm_shop


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("pyproject.toml", '[tool.paramedic]\nignore = ["PM502"]', False),
        ("pyproject.toml", '[tool.paramedic]\nselect = ["PM4"]', False),
        ("pyproject.toml", '[tool.other]\nignore = ["PM502"]', True),
        ("paramedic.toml", 'ignore = ["softmax-before-cross-entropy"]', False),
        ("paramedic.toml", 'select = ["PM5"]', True),
        ("paramedic.toml", "[rules.PM502]\ntolerance = -1.0", False),
        ("paramedic.toml", "[rules.softmax-before-cross-entropy]\ntolerance = -1.0", False),
        ("pyproject.toml", "[tool.paramedic.rules.PM502]\ntolerance = 0.01", True),
    ],
)
def test_settings_files_choose_rules_and_set_options(copy: Workshop, file: str, text: str, found: bool) -> None:
    copy.write(file, text)
    assert report(copy) == (["PM502"] if found else [])


def test_settings_are_found_in_a_folder_above(copy: Workshop) -> None:
    copy.write("paramedic.toml", 'ignore = ["PM502"]')
    (copy.folder / "deep" / "er").mkdir(parents=True)
    assert copy.paramedic("report", cwd=copy.folder / "deep" / "er").code == 0


def test_paramedic_toml_goes_before_pyproject(copy: Workshop) -> None:
    copy.write("paramedic.toml", 'ignore = ["PM502"]')
    copy.write("pyproject.toml", '[tool.paramedic]\nselect = ["PM502"]')
    assert report(copy) == []


def test_the_command_line_goes_before_the_settings(copy: Workshop) -> None:
    copy.write("paramedic.toml", 'select = ["PM4"]\nignore = ["PM502"]')
    assert report(copy, "--select", "PM5", "--ignore", "PM601") == ["PM502"]


def test_the_settings_choose_where_records_go(warm_shop: Workshop) -> None:
    warm_shop.write("paramedic.toml", 'runs = "records"')
    warm_shop.write("train.py", TRAIN + "train(6)\n")
    assert warm_shop.run("train.py", options=("--select", "PM502")).code == 0
    assert len(list(warm_shop.folder.glob("records/*/main.db"))) == 1 and not warm_shop.records()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('selekt = ["PM5"]', "did you mean select"),
        ('select = "PM5"', "a list"),
        ("select = [1]", "a list"),
        ('ignore = ["PM999"]', "no rule 'PM999'"),
        ("[rules.PM502]\ntolerances = 1", "tolerance"),
        ("[rules.PM999]\ntolerance = 1", "no rule 'PM999'"),
        ("[rules]\nPM502 = 3", "PM502"),
        ("rules = 3", "rules"),
        ("runs = 3", "runs"),
        ("select = [", "paramedic.toml"),
    ],
)
def test_wrong_settings_are_messages(copy: Workshop, text: str, said: str) -> None:
    copy.write("paramedic.toml", text)
    done = copy.paramedic("report")
    assert done.code == 2 and "Traceback" not in done.stderr
    assert (said in done.stderr and "paramedic.toml" in done.stderr) or said.startswith("no rule")
    assert said in done.stderr


def test_an_option_of_the_wrong_type_is_a_message(copy: Workshop) -> None:
    copy.write("paramedic.toml", '[rules.PM502]\ntolerance = "much"')
    done = copy.paramedic("report")
    assert done.code == 2 and "tolerance" in done.stderr and "Traceback" not in done.stderr


FOREIGN = '''
from paramedic.record.facts import Step
from paramedic.rules import Finding, rule

@rule("{code}", "too-few-steps", severity="warning", needs=[Step])
def check(run, *, fewest: int = 1000):
    """Fewer steps than our house asks for."""
    if run.steps < fewest:
        yield Finding(what=f"{{run.steps}} steps", why="house rule", remedy="train longer", confidence=1.0)
'''


def install(warm_shop: Workshop, code: str, entry: str = "houserules") -> None:
    """Put a distribution with an entry point on PYTHONPATH, as pip would."""
    warm_shop.write("site/houserules.py", FOREIGN.format(code=code))
    warm_shop.write("site/houserules-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: houserules\nVersion: 1.0\n")
    warm_shop.write("site/houserules-1.0.dist-info/entry_points.txt", f"[paramedic.rules]\nhouse = {entry}\n")
    warm_shop.env["PYTHONPATH"] = str(warm_shop.folder / "site")


@pytest.mark.parametrize("entry", ["houserules", "houserules:check"])
def test_rules_of_other_packages_come_by_entry_point(copy: Workshop, entry: str) -> None:
    install(copy, "HR101", entry)
    assert sorted(report(copy)) == ["HR101", "PM502"]
    assert report(copy, "--select", "HR") == ["HR101"] == report(copy, "--select", "too-few-steps")
    assert "HR101" in copy.paramedic("rules").stdout
    assert "Fewer steps than our house" in copy.paramedic("explain", "too-few-steps").stdout
    copy.write("paramedic.toml", "[rules.HR101]\nfewest = 3")
    assert report(copy) == ["PM502"]


@pytest.mark.parametrize("code", ["PM502", "PM999"])
def test_a_foreign_rule_may_not_take_our_codes(copy: Workshop, code: str) -> None:
    install(copy, code)
    done = copy.paramedic("report")
    assert done.code == 1 and "PM502" in done.stdout  # all other rules are asked
    assert len(done.stderr.splitlines()) == 1 and code in done.stderr and "houserules" in done.stderr


def test_a_broken_foreign_package_is_a_message(copy: Workshop) -> None:
    install(copy, "HR101", entry="no_such_module")
    done = copy.paramedic("report")
    assert done.code == 1 and "PM502" in done.stdout
    assert len(done.stderr.splitlines()) == 1 and "houserules" in done.stderr

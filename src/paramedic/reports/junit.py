"""The diagnosis as JUnit's XML: a test case per rule, which every CI server can show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as Xml

from paramedic.findings import Diagnosis, Finding
from paramedic.findings.words import number, places
from paramedic.reports.place import file_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what no XML file may hold


def render(diagnosis: Diagnosis, base: Path | None = None) -> str:
    """Errors and warnings are failures, notes are output of a test that passes, abstentions are skipped tests."""
    suite = Xml.Element("testsuite", name="paramedic", time=f"{diagnosis.run.seconds:.3f}")
    if diagnosis.run.started:
        suite.set("timestamp", datetime.fromtimestamp(diagnosis.run.started, UTC).strftime("%Y-%m-%dT%H:%M:%S"))
    for finding in diagnosis.findings:
        _found(suite, finding, diagnosis, base or Path.cwd())
    for crash in diagnosis.crashed:
        Xml.SubElement(_case(suite, diagnosis, crash.code), "error", message=_text(crash.error))
    for rule in diagnosis.abstained:
        Xml.SubElement(_case(suite, diagnosis, rule.code), "skipped", message=_text(rule.reason))
    for code in diagnosis.clear:
        _case(suite, diagnosis, code)
    if diagnosis.verdict == "inconclusive":
        Xml.SubElement(_case(suite, diagnosis, "verdict"), "skipped", message=_text(diagnosis.reason))
    suite.set("tests", str(len(suite)))
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(kind) is not None for case in suite)))
    top = Xml.Element("testsuites")
    top.append(suite)
    Xml.indent(top)
    return Xml.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _found(suite: Xml.Element, finding: Finding, diagnosis: Diagnosis, base: Path) -> None:
    case = _case(suite, diagnosis, f"{finding.code} {finding.name}")
    if file := file_of(finding, diagnosis, base):
        case.set("file", _text(file))
    if finding.where.line:
        case.set("line", str(finding.where.line))
    if finding.severity == "note":
        Xml.SubElement(case, "system-out").text = _text("\n".join(_story(finding)))
    elif finding.known:
        Xml.SubElement(case, "skipped", message=_text(f"known, from the baseline: {finding.what}"))
    else:
        failure = Xml.SubElement(case, "failure", message=_text(finding.what), type=finding.severity or "error")
        failure.text = _text("\n".join(_story(finding)))


def _story(finding: Finding) -> Iterable[str]:
    yield f"what   {finding.what}"
    if parts := places(finding):
        yield f"where  {' · '.join(parts)}"
    yield f"why    {finding.why}"
    yield f"try    {finding.remedy}"
    for fact in finding.evidence:
        yield f"seen   {fact.name} = {number(fact.value)}{f' (limit {fact.limit})' if fact.limit else ''}"
    if finding.consequence_of:
        yield f"from   {finding.consequence_of}, which probably explains this"
    yield f"more   paramedic explain {finding.code}"


def _case(suite: Xml.Element, diagnosis: Diagnosis, name: str) -> Xml.Element:
    script = diagnosis.run.script.removesuffix(".py").replace("/", ".") or "run"
    return Xml.SubElement(suite, "testcase", classname=_text(f"paramedic.{script}"), name=_text(name), time="0")


def _text(words: str) -> str:
    return _NOT_XML.sub("�", words)

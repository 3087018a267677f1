"""The gate of a build: whether a run is good enough, and no worse than its baseline."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as Xml

from truemark.comparison import Change, Comparison, compare
from truemark.records import Run, Unit
from truemark.summary import Summary, failed_units, summarise
from truemark.uncertainty import FEWEST_FOR_INTERVAL, FEWEST_FOR_VERDICT

Outcome = Literal["passed", "fell short", "inconclusive"]
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a run must fulfil; None and False ask for nothing."""

    fail_under: float | None = None
    fail_under_lower: float | None = None
    fail_if_worse: bool = False
    max_failed: float = 0.1

    @property
    def ask_nothing(self) -> bool:
        return self == Criteria(max_failed=self.max_failed)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that was asked, what was found, and whether it holds."""

    asked: str
    found: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """What was asked of a run and what came of it.

    `doubt` says why something that was asked cannot be answered: so many units failed that an
    outage could look like a change of the system, or there are too few clusters.
    """

    run: Run
    summary: Summary
    comparison: Comparison | None
    requirements: tuple[Requirement, ...]
    doubt: str | None

    @property
    def outcome(self) -> Outcome:
        if not all(requirement.holds for requirement in self.requirements):
            return "fell short"
        return "passed" if self.doubt is None else "inconclusive"

    @property
    def broken(self) -> tuple[Change, ...]:
        """The units that have more mistakes than in the baseline, worst first."""
        return self.comparison.against[0].broken if self.comparison else ()


def check(
    run: Run,
    baseline: Run | None,
    criteria: Criteria,
    *,
    anyway: bool = False,
) -> Gate:
    """Check a run against the criteria and, where there is one, the baseline."""
    if criteria.fail_if_worse and baseline is None:
        raise ValueError("fail_if_worse needs a baseline, got none")
    doubt = _doubt("the run", run, criteria.max_failed)
    if doubt is None and baseline is not None:
        doubt = _doubt("the baseline", baseline, criteria.max_failed)
    if doubt is not None:
        return Gate(run, summarise(run), None, (), doubt)
    comparison = None
    if baseline is not None:
        comparison = compare((baseline, run), anyway=anyway)
    summary = comparison.summaries[1] if comparison else summarise(run)
    requirements = tuple(_requirements(summary, comparison, criteria))
    return Gate(run, summary, comparison, requirements, _too_few(summary, comparison, criteria))


def _doubt(what: str, run: Run, max_failed: float) -> str | None:
    failed, units = len(failed_units(run)), len(run.units)
    if failed == units or failed > max_failed * units:
        return f"{failed} of {units} units of {what} failed, too many to tell"
    return None


def _too_few(summary: Summary, comparison: Comparison | None, criteria: Criteria) -> str | None:
    """Say which question so few clusters cannot answer, if one was asked."""
    f1 = summary.intervals["f1"]
    if criteria.fail_under_lower is not None and not f1.known:
        return (
            f"{f1.clusters} clusters are too few for an interval (at least {FEWEST_FOR_INTERVAL})"
        )
    if criteria.fail_if_worse and comparison is not None:
        difference = comparison.against[0].differences["f1"]
        if not difference.known:
            return (
                f"{difference.clusters} clusters are too few to tell whether it is worse"
                f" (at least {FEWEST_FOR_VERDICT})"
            )
    return None


def _requirements(
    summary: Summary, comparison: Comparison | None, criteria: Criteria
) -> Iterable[Requirement]:
    f1 = summary.intervals["f1"]
    if criteria.fail_under is not None:
        holds = f1.value >= criteria.fail_under
        found = f"{f1.value:.4f}"
        if f1.known:
            found += f" (95% interval {f1.low:.4f} to {f1.high:.4f})"
        yield Requirement(f"f1 of {criteria.fail_under:g} or more", found, holds)
    if criteria.fail_under_lower is not None and f1.known:
        holds = f1.low >= criteria.fail_under_lower
        asked = f"lower end of the f1 interval {criteria.fail_under_lower:g} or more"
        yield Requirement(asked, f"{f1.low:.4f}", holds)
    if criteria.fail_if_worse and comparison is not None:
        versus = comparison.against[0]
        difference = versus.differences["f1"]
        if difference.known:
            found = f"{versus.verdict} ({difference.value:+.4f}, p {versus.p_value:.4f})"
            yield Requirement("f1 not worse than the baseline", found, versus.verdict != "worse")


def junit(gate: Gate) -> bytes:
    """Write a JUnit document: a case per requirement, and one per unit.

    A unit that could not be measured is an error. One that lost against the baseline is a
    failure where the gate fell short; where it passed, chance moves single units both ways.
    """
    name = f"{gate.run.tool} {gate.run.system.name}"
    root = Xml.Element("testsuites", name=_xml(name))
    asked = [_requirement_case(requirement) for requirement in gate.requirements]
    if gate.doubt is not None:
        case = _case("gate", "conclusive", None)
        Xml.SubElement(case, "error", message=_xml(gate.doubt), type="inconclusive")
        asked.append(case)
    _add_suite(root, "gate", asked)
    lost = {change.unit: change for change in gate.broken} if gate.outcome == "fell short" else {}
    _add_suite(root, name, [_unit_case(name, unit, lost) for unit in gate.run.units])
    Xml.indent(root)
    document: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _requirement_case(requirement: Requirement) -> Xml.Element:
    case = _case("gate", requirement.asked, None)
    if not requirement.holds:
        Xml.SubElement(case, "failure", message=_xml(f"found {requirement.found}"), type="gate")
    return case


def _unit_case(suite: str, unit: Unit, lost: dict[str, Change]) -> Xml.Element:
    name = f"{unit.id} #{unit.repeat}" if unit.repeat else unit.id
    case = _case(suite, name, unit.seconds)
    if unit.failed is not None:
        Xml.SubElement(case, "error", message=_xml(unit.failed), type="failed")
        return case
    if change := lost.get(unit.id):
        message = f"{change.mistakes} mistakes more than the baseline"
        Xml.SubElement(case, "failure", message=message, type="worse")
    Xml.SubElement(case, "system-out").text = f"tp {unit.tp}, fp {unit.fp}, fn {unit.fn}"
    return case


def _case(suite: str, name: str, seconds: float | None) -> Xml.Element:
    return Xml.Element(
        "testcase", classname=_xml(suite), name=_xml(name), time=f"{seconds or 0:.3f}"
    )


def _add_suite(root: Xml.Element, name: str, cases: list[Xml.Element]) -> None:
    suite = Xml.SubElement(root, "testsuite", name=_xml(name), tests=str(len(cases)), skipped="0")
    for attribute, tag in (("failures", "failure"), ("errors", "error")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    suite.extend(cases)


def _xml(text: str) -> str:
    """Replace characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)

"""Write the outcome of a gate as a JUnit document, which build servers show."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from truemark.comparison import Change
from truemark.gate import Gate, Requirement
from truemark.records import Unit

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(gate: Gate, data: str) -> bytes:
    """Write a JUnit document about the named data: a case per requirement, and one per unit.

    A unit that could not be measured is an error. A unit that lost against the baseline is a
    failure if the gate fell short; if it passed, chance moves single units both ways.
    """
    name = f"{gate.run.tool} {gate.run.system.name} on {data}"
    root = Xml.Element("testsuites", name=_xml(name))
    of_gate = f"gate of {name}"
    asked = [_requirement_case(of_gate, requirement) for requirement in gate.requirements]
    if gate.doubt is not None:
        case = _case(of_gate, "conclusive", None)
        Xml.SubElement(case, "error", message=_xml(gate.doubt), type="inconclusive")
        asked.append(case)
    _add_suite(root, of_gate, asked)
    lost = {change.unit: change for change in gate.broken} if gate.outcome == "fell short" else {}
    _add_suite(root, name, [_unit_case(name, unit, lost) for unit in gate.run.units])
    Xml.indent(root)
    document: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _requirement_case(suite: str, requirement: Requirement) -> Xml.Element:
    case = _case(suite, requirement.asked, None)
    message = _xml(f"found {requirement.found}")
    if requirement.holds is None:
        Xml.SubElement(case, "error", message=message, type="inconclusive")
    elif not requirement.holds:
        Xml.SubElement(case, "failure", message=message, type="gate")
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

from truemark.sections import Section, all_facts, as_json, as_markdown, as_text, show
from truemark.tables import Table

SECTIONS = [
    Section("Speed | <b>", ["2 talks in 0.4 s"], facts={"seconds": 0.4}),
    Section(tables=[Table(("talk", "f1"), (("a", 0.912),), (None, ".2f"))], facts={"f1": [0.912]}),
]


def test_sections_as_text() -> None:
    assert as_text(SECTIONS) == "Speed | <b>\n\n2 talks in 0.4 s\n\ntalk    f1\na     0.91\n"


def test_sections_as_markdown() -> None:
    assert as_markdown(SECTIONS) == (
        "## Speed &#124; &#60;b&#62;\n\n2 talks in 0.4 s\n\n"
        "| talk | f1 |\n| --- | ---: |\n| a | 0.91 |\n"
    )
    assert as_markdown(SECTIONS[:1], level=3).startswith("### Speed")


def test_json_holds_the_facts_of_all_sections() -> None:
    assert all_facts(SECTIONS) == {"seconds": 0.4, "f1": [0.912]}
    assert as_json(SECTIONS) == '{\n  "seconds": 0.4,\n  "f1": [\n    0.912\n  ]\n}\n'


def test_show_takes_the_form_by_name() -> None:
    assert [show(SECTIONS, form) for form in ("text", "markdown", "json")] == [
        as_text(SECTIONS),
        as_markdown(SECTIONS),
        as_json(SECTIONS),
    ]

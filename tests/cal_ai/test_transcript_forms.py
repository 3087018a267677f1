"""Every form that a conversation is written in is read as the same conversation."""

from __future__ import annotations

from datetime import datetime

import pytest

from cal_ai.transcripts.reading import form_line, parse_transcript

LUNCH = [("Alice Smith", "Lunch at noon?"), ("Bob", "Yes: see you there.")]
FORMS = {
    "[Name]: text": "[Alice Smith]: Lunch at noon?\n[Bob]: Yes: see you there.\n",
    "Name: text": "Alice Smith: Lunch at noon?\nBob: Yes: see you there.\n",
    "[10:01] Name: text": "[10:01] Alice Smith: Lunch at noon?\n"
    "[10:02:10] Bob: Yes: see you there.",
    "10:01 Name: text": "10:01 Alice Smith: Lunch\nat noon?\n10:02 PM Bob: Yes: see you there.",
    "chat of Zoom": "10:01:22 From Alice Smith to Everyone: Lunch at noon?\n"
    "10:02:00 From Bob to Alice Smith (direct message): Yes: see you there.",
    "WebVTT of Teams": "WEBVTT\n\nNOTE made by Teams\n\n7a-0\n00:00:03.100 --> 00:00:04.000\n"
    "<v Alice Smith>Lunch</v>\n\n7a-1\n00:00:04.000 --> 00:00:05.000\n"
    "<v Alice Smith>at noon?</v>\n\n00:05.000 --> 00:06.000\n<v Bob>Yes: see you there.</v>\n",
    "WebVTT of Zoom": "\ufeffWEBVTT\n\n1\n00:00:03.100 --> 00:00:04.000\nAlice Smith: Lunch\n\n"
    "2\n00:00:04.000 --> 00:00:05.000\nat noon?\n\n3\n00:00:05.000 --> 00:00:06.000\n"
    "Bob: Yes: see you there.\n",
    "WebVTT in brackets": "WEBVTT\n\n1\n00:03.100 --> 00:04.000\n[Alice Smith]: Lunch at noon?\n\n"
    "2\n00:05.000 --> 00:06.000\n[Bob]: Yes: see you there.\n",
    "SRT": "1\n00:00:01,000 --> 00:00:03,000\nAlice Smith: Lunch\n\n"
    "2\n00:00:03,000 --> 00:00:04,000\nat noon?\n\n3\n00:00:05,000 --> 00:00:06,000\n"
    "<i>Bob: Yes: see you there.</i>\n",
    "captions of Zoom": "[Alice Smith] 10:01:22\nLunch at noon?\n\n[Bob] 10:01:30\n"
    "Yes: see you there.\n",
    "captions of Teams": "Alice Smith   0:03\nLunch at noon?\n\nBob   0:10\nYes: see you there.\n",
    "names above times": "Alice Smith\n0:03\nLunch at noon?\n\nBob\n0:10\nYes: see you there.\n",
    "copied from a chat of Teams": "[10:01 AM] Alice Smith\nLunch at noon?\n\n"
    "[11/19 10:02 AM] Bob\nYes: see you there.\n",
    "copied from a transcript of Teams": "Alice Smith\n0 minutes 3 seconds\n0:03\n"
    "Alice Smith 0 minutes 3 seconds\nLunch at noon?\nBob\n1 minute 10 seconds\n1:10\n"
    "Bob 1 minute 10 seconds\nYes: see you there.\n",
    "document of Teams": "00:00:03.100 --> 00:00:04.000\nAlice Smith\nLunch at noon?\n\n"
    "00:00:05.000 --> 00:00:06.000\nBob\nYes: see you there.\n",
    "WhatsApp on Android": "12/31/25, 10:01 PM - Alice Smith: Lunch at noon?\n"
    "12/31/25, 10:02\u202fPM - Bob: Yes: see\nyou there.\n",
    "WhatsApp on an iPhone": "[31.12.25, 22:01:15] Alice Smith: Lunch at noon?\n"
    "\u200e[31.12.25, 22:02:00] Bob: Yes: see you there.\n",
}


def spoken(text: str) -> list[tuple[str, str]]:
    return [(said.speaker, said.words) for said in parse_transcript(text).utterances]


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_hold_the_same_conversation(form: str) -> None:
    transcript = parse_transcript(FORMS[form])
    assert spoken(FORMS[form]) == LUNCH
    assert transcript.skipped_lines == ()
    assert transcript.speakers == ("Alice Smith", "Bob")


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("Name: text", "read as Name: text, 0 lines left out"),
        ("chat of Zoom", "read as [10:01] Name: text, 0 lines left out"),
        ("WebVTT of Teams", "read as WebVTT, 0 lines left out"),
        ("SRT", "read as SRT, 0 lines left out"),
        ("captions of Zoom", "read as captions or a chat of Zoom or Teams, 0 lines left out"),
        ("WhatsApp on Android", "read as WhatsApp export, 0 lines left out"),
    ],
)
def test_a_line_says_which_form_was_read(form: str, line: str) -> None:
    assert form_line(parse_transcript(FORMS[form])) == line


def test_what_stands_between_two_times_is_said_although_it_could_be_a_name() -> None:
    cues = "0:03 --> 0:05\nBob\nLunch?\n0:06 --> 0:08\nAlice\nYes\n0:09 --> 0:12\nBob\nGood.\n"
    assert spoken(cues) == [("Bob", "Lunch?"), ("Alice", "Yes"), ("Bob", "Good.")]
    below = "Alice\n0:01\nWhat day suits you?\nBob\n0:03\nFriday\n0:05\nAt noon?\n"
    assert [speaker for speaker, _ in spoken(below)] == ["Alice", "Bob"]


def test_a_reply_that_is_only_a_time_is_said() -> None:
    text = "[10:01 AM] Alice\nWhen?\n[10:02 AM] Bob\n10:30\n[10:03 AM] Alice\nOK\n"
    assert spoken(text) == [("Alice", "When?"), ("Bob", "10:30"), ("Alice", "OK")]


def test_one_line_in_brackets_decides_the_form() -> None:
    assert spoken("Bob: skipped\n[Alice]: Hello\nCarol: more") == [("Alice", "Hello Carol: more")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Meet at 10:30.\nhttps://example.org/x", id="no names"),
        pytest.param("so what we do is: nothing", id="a sentence before the colon"),
        pytest.param("Note: bring milk", id="a remark"),
        pytest.param("<b>Bob</b>: hello", id="markup"),
        pytest.param("WEBVTT\n\n00:01.000 --> 00:02.000\nno voice here", id="subtitles"),
    ],
)
def test_a_text_without_speakers_is_no_conversation(text: str) -> None:
    assert parse_transcript(text).utterances == ()


def test_notices_and_media_of_whatsapp_are_left_out() -> None:
    text = (
        "31/12/2025, 22:00 - Messages and calls are end-to-end encrypted.\n"
        "31/12/2025, 22:01 - Alice: Lunch?\nat noon\n"
        "31/12/2025, 22:02 - Bob: <Media omitted>\n"
        "31/12/2025, 22:03 - +44 7700 900123: Fine.\n"
    )
    assert spoken(text) == [("Alice", "Lunch? at noon"), ("+44 7700 900123", "Fine.")]
    assert form_line(parse_transcript(text)) == "read as WhatsApp export, 2 lines left out"


def test_a_line_in_brackets_within_a_chat_of_whatsapp_continues_a_message() -> None:
    text = (
        "31/12/2025, 22:00 - Alice: Lunch?\n[Edit]: at noon\n"
        "31/12/2025, 22:01 - Bob: Yes.\n31/12/2025, 22:02 - Alice: Good.\n"
    )
    assert spoken(text) == [
        ("Alice", "Lunch? [Edit]: at noon"),
        ("Bob", "Yes."),
        ("Alice", "Good."),
    ]


def test_a_name_with_a_colon_in_a_notice_of_whatsapp_is_no_speaker() -> None:
    text = (
        '31/12/2025, 22:00 - Alice created group "Plan: Friday"\n'
        "31/12/2025, 22:00 - Bob changed the group name to “Plan: Monday”\n"
        '31/12/2025, 22:01 - Tom "T" Jones: "Lunch: at noon"\n'
    )
    assert spoken(text) == [('Tom "T" Jones', '"Lunch: at noon"')]


@pytest.mark.parametrize("stamp", ["31/12/2025 à 22:01", "31.12.2025 klo 22.01"])
def test_a_word_may_stand_between_date_and_time_of_whatsapp(stamp: str) -> None:
    transcript = parse_transcript(f"{stamp} - Alice: Lunch?\n{stamp} - Bob: Yes.\n")
    assert transcript.speakers == ("Alice", "Bob")
    assert transcript.dating is not None
    assert transcript.dating.last == datetime(2025, 12, 31, 22, 1)


def test_a_dash_before_the_name_in_subtitles_is_no_part_of_it() -> None:
    text = "1\n00:00:01,000 --> 00:00:03,000\n- Alice: Lunch - at noon?\n- Bob: Yes.\n- Fine.\n"
    assert spoken(text) == [("Alice", "Lunch - at noon?"), ("Bob", "Yes. - Fine.")]


def test_an_export_of_an_iphone_with_media_is_one_of_whatsapp() -> None:
    text = (
        "[17/11/26, 19:01:15] Dana: Lunch?\n"
        "[17/11/26, 19:01:40] Tom: \u200eimage omitted\n"
        "[17/11/26, 19:02:00] Tom: Fine.\n"
    )
    assert spoken(text) == [("Dana", "Lunch?"), ("Tom", "Fine.")]
    assert form_line(parse_transcript(text)) == "read as WhatsApp export, 1 line left out"


def test_what_an_iphone_writes_itself_is_no_speech() -> None:
    text = (
        "[18.11.26, 20:14:02] Book club: \u200eMessages and calls are end-to-end encrypted.\n"
        "\u200e[18.11.26, 20:14:02] Book club: \u200eFelix created this group\n"
        "\u200e[18.11.26, 20:14:03] Book club: \u200eFelix added you\n"
        "[18.11.26, 20:15:42] ~ Tom: see u\nThursday at 8 \u200e<This message was edited>\n"
        "[18.11.26, 20:15:45] Tom: or 9 <This message was edited>\n"
        "\u200e[18.11.26, 20:15:52] Felix: \u200ePOLL:\n"
        "\u200eWhich day?\n"
        "\u200eOPTION: Thu (3 votes)\n"
        "[18.11.26, 20:16:52] Anna: Missed voice call\n"
        "[18.11.26, 20:16:55] Anna: \u200eMissed video call\n"
        "[18.11.26, 20:16:57] Anna: \u200eVoice call, \u200e2 min\n"
        "[18.11.26, 20:17:00] Anna: Missed voice call from you, what is it?\n"
        "[18.11.26, 20:17:10] Anna: Ask \u200eTom\n"
    )
    assert spoken(text) == [
        ("Tom", "see u Thursday at 8"),
        ("Tom", "or 9"),
        ("Anna", "Missed voice call from you, what is it?"),
        ("Anna", "Ask \u200eTom"),
    ]
    assert form_line(parse_transcript(text)) == "read as WhatsApp export, 9 lines left out"


def test_a_remark_within_a_conversation_continues_it() -> None:
    assert spoken("Bob: see below\nNote: bring milk\nJean de la Fontaine: Yes") == [
        ("Bob", "see below Note: bring milk"),
        ("Jean de la Fontaine", "Yes"),
    ]


def test_the_language_of_a_conversation_may_be_said_in_its_first_lines() -> None:
    transcript = parse_transcript("# Language: German\n[Alice]: Hallo")
    assert (transcript.language, transcript.skipped_lines) == ("German", ())
    assert parse_transcript("[Alice]: Hallo").language is None

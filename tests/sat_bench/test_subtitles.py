from pathlib import Path

import pytest

from sat_bench.corpus.loading import load_talk
from sat_bench.corpus.subtitles import spoken_text
from sat_bench.corpus.talks import CorpusError

SRT = """\
1
00:00:01,000 --> 00:00:03,500
<i>Good morning.</i> How
are you?

2
00:00:04,000 --> 00:00:05,000
(Laughter)

3
00:00:05,000 --> 00:00:07,000
{\\an8}- Fine, thanks.
- And you?
"""

VTT = """\
WEBVTT - A talk

STYLE
::cue { color: lime }

NOTE
This is not said.

intro
00:01.000 --> 00:03.000 align:start position:0%
<v Ada>Good morning.</v> It's &lt;fine&gt; &amp; dry.

00:03.000 --> 00:04.000
[Music] >> ok
"""

ROLLING = """\
WEBVTT
Kind: captions

00:00:00.000 --> 00:00:02.000
\x20
so<00:00:00.480><c> today</c><00:00:01.000><c> we</c>

00:00:02.000 --> 00:00:02.010
so today we

00:00:02.010 --> 00:00:04.000
so today we
look<00:00:02.500><c> at</c> bees

00:00:04.000 --> 00:00:04.010
look at bees
"""


def said(line: str, ending: str = ".srt") -> str:
    cue = f"1\n00:00:01,000 --> 00:00:02,000\nStart.\n{line}\nEnd.\n"
    text = spoken_text(Path(f"talk{ending}"), cue)
    assert text.startswith("Start.")
    assert text.endswith("End.")
    return text.removeprefix("Start.").removesuffix("End.").strip()


def test_srt_cues_are_joined_by_spaces() -> None:
    assert spoken_text(Path("a.srt"), SRT) == "Good morning. How are you? Fine, thanks. And you?"


def test_vtt_header_notes_styles_and_cue_names_are_not_said() -> None:
    assert spoken_text(Path("a.vtt"), VTT) == "Good morning. It's <fine> & dry. ok"


def test_captions_that_roll_up_are_said_once() -> None:
    assert spoken_text(Path("a.vtt"), ROLLING) == "so today we look at bees"


def test_overlapping_cues_repeat_their_lines_only_on_the_screen() -> None:
    content = (
        "1\n00:00:00,000 --> 00:00:04,000\nfirst line\nsecond line\n\n"
        "2\n00:00:02,000 --> 00:00:06,000\nsecond line\nthird line\n"
    )
    assert spoken_text(Path("a.srt"), content) == "first line second line third line"


def test_what_is_said_twice_is_kept_twice() -> None:
    content = "1\n00:00:00,000 --> 00:00:01,000\nNo.\n\n2\n00:00:01,000 --> 00:00:02,000\nNo.\n"
    assert spoken_text(Path("a.srt"), content) == "No. No."


LINES = {
    "hyphen of a speaker": ("- Yes.", "Yes."),
    "hyphen without a space": ("-Yes.", "Yes."),
    "dash of a speaker": ("– Yes.", "Yes."),
    "minus sign": ("-5 degrees.", "-5 degrees."),
    "dash inside": ("well - yes", "well - yes"),
    "change of speaker": (">> Yes.", "Yes."),
    "name in capitals": ("ANNA LEE: Yes.", "Yes."),
    "name after the change": (">> DR. LEE: Yes.", "Yes."),
    "ordinary colon": ("One thing: yes.", "One thing: yes."),
    "time": ("At 10:30 we left.", "At 10:30 we left."),
    "sound note": ("Yes. (Laughter) No.", "Yes. No."),
    "sound note of several words": ("(Laughter and loud applause) No.", "No."),
    "sound note in square brackets": ("[door slams] No.", "No."),
    "sound note alone in lower case": ("(door slams)", ""),
    "remark of the speaker": ("Yes (which I liked) no.", "Yes (which I liked) no."),
    "sentence in brackets": ("Yes. (I was ten.) No.", "Yes. (I was ten.) No."),
    "sound note of a speaker": ("- (sighs) No.", "No."),
    "sound note inside a cue in lower case": ("(which one) No.", "(which one) No."),
    "lyrics": ("♪ La la la ♪", ""),
    "lyrics of two lines": ("♪ La la\nla la ♪ No.", "No."),
    "lyrics as an entity": ("No. &#9834; La la &#9834;", "No."),
    "music without lyrics": ("No. ♪♪", "No."),
    "bold": ("<b>Yes</b>, <font color='#fff'>no</font>", "Yes, no"),
    "less than": ("2 < 3 and 4 > 3", "2 < 3 and 4 > 3"),
    "entity": ("Tom &amp; Ann&nbsp;here", "Tom & Ann here"),
}


@pytest.mark.parametrize(("line", "expected"), LINES.values(), ids=LINES)
def test_only_speech_is_kept_of_a_line(line: str, expected: str) -> None:
    assert said(line) == expected


OPENINGS = {
    "sound note": ("(upbeat music) Welcome.", "Welcome."),
    "sound note of one word": ("(risas) Gracias.", "Gracias."),
    "sound note of a speaker": (">> (door slams) Who is it?", "Who is it?"),
    "sound note of two lines": ("(upbeat\nmusic)\nWelcome.", "Welcome."),
    "remark": ("(which I liked) and so on.", "(which I liked) and so on."),
    "remark without a verb": ("(of course) we left.", "(of course) we left."),
    "remark with a mark": ("(ten, maybe) we left.", "(ten, maybe) we left."),
    "four words": ("(ten of my cows) left.", "(ten of my cows) left."),
    "numbers": ("(10 people) left.", "(10 people) left."),
    "lyrics in every line": ("♪ La la\n♪ la la", ""),
    "lyrics and speech": ("♪ La ♪ Welcome.", "Welcome."),
}


@pytest.mark.parametrize(("cue", "expected"), OPENINGS.values(), ids=OPENINGS)
@pytest.mark.parametrize("ending", [".srt", ".vtt"])
def test_sound_notes_that_begin_a_cue_are_left_out(cue: str, expected: str, ending: str) -> None:
    content = (
        f"1\n00:00:01.000 --> 00:00:02.000\nStart.\n\n2\n00:00:03.000 --> 00:00:04.000\n{cue}\n"
    )
    text = spoken_text(Path(f"a{ending}"), content)
    assert text == f"Start. {expected}".strip()


LAYOUTS = {
    "windows line breaks": SRT.replace("\n", "\r\n"),
    "no blank line between cues": SRT.replace("\n\n", "\n"),
    "no numbers": "\n\n".join(block.partition("\n")[2] for block in SRT.split("\n\n")),
    "no milliseconds": SRT.replace(",000", "").replace(",500", ""),
    "points before milliseconds": SRT.replace(",000", ".000").replace(",500", ".500"),
    "blank line inside a cue": SRT.replace("How\nare", "How\n\nare"),
}


@pytest.mark.parametrize("content", LAYOUTS.values(), ids=LAYOUTS)
def test_sloppy_srt_files_give_the_same_text(content: str) -> None:
    assert (
        spoken_text(Path("a.srt"), content) == "Good morning. How are you? Fine, thanks. And you?"
    )


def test_a_subtitle_file_is_a_talk(tmp_path: Path) -> None:
    path = tmp_path / "talk.SRT"
    path.write_text("\ufeff" + SRT, encoding="utf-8")
    talk = load_talk(path)
    assert (talk.id, talk.source, talk.title) == ("talk", "talk.SRT", "")
    assert [talk.text[start:end] for start, end in talk.sentences] == [
        *("Good morning.", "How are you?", "Fine, thanks.", "And you?")
    ]


BAD = {
    "no cues": ("a.srt", "Only text.\n", "a.srt: no subtitle cues found"),
    "empty": ("a.vtt", "WEBVTT\n", "a.vtt: no subtitle cues found"),
    "short arrow": ("a.srt", "1\n00:00:01,000 -> 00:00:02,000\nHi.", "a.srt:2: not a timing line"),
    "words for times": ("a.vtt", "WEBVTT\n\nnow --> later\nHi.", "a.vtt:3: not a timing line"),
    "nothing said": ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n(Music)", "nothing is said in"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD)
def test_bad_subtitles_are_one_line(name: str, content: str, message: str) -> None:
    with pytest.raises(CorpusError) as raised:
        spoken_text(Path(name), content)
    assert message in str(raised.value)


def test_a_malformed_cue_is_left_out_with_a_remark(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nFirst.\n\n2\n00:00:03 -> later\nLost.\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\nThird.\n",
        encoding="utf-8",
    )
    talk = load_talk(path)
    assert talk.text == "First. Third."
    assert talk.remarks == (
        f"{path}:6: not a timing line: '00:00:03 -> later'; the cue is left out",
    )

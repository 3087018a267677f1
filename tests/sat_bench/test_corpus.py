import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_bench.corpus.loading import ENDINGS, load_corpus, load_talk, load_talks
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.defaults import BUNDLED_CORPUS, TruthRule

TRANSCRIPT = "# Source: a tape\n# Speaker: Ada\n# Title: Looms\n# Duration: 1:00\n\nOne. Two.\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def sentence_texts(talk: Talk) -> list[str]:
    return [talk.text[start:end] for start, end in talk.sentences]


def gold(text: str, boundaries: list[int], **more: object) -> str:
    return json.dumps({"text": text, "boundaries": boundaries, **more})


def test_a_transcript_gives_its_header_and_its_sentences(tmp_path: Path) -> None:
    talk = load_talk(write(tmp_path, "looms.txt", TRANSCRIPT))
    assert talk == Talk(
        "looms", "a tape", "Ada", "Looms", "One. Two.", talk.sentences, truth="plain"
    )
    assert sentence_texts(talk) == ["One.", "Two."]
    assert talk.boundaries == [4, 9]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(TRANSCRIPT.replace("\n", "\r\n"), "One. Two.", id="windows line breaks"),
        pytest.param("\ufeff" + TRANSCRIPT, "One. Two.", id="byte order mark"),
        pytest.param("# source: x\n\nA.\r\n\r\nB.", "A.\n\nB.", id="paragraphs"),
        pytest.param("#Source:x\nA. B.", "A. B.", id="no blank line"),
        pytest.param("\n# Source: x\n\n# 1 rule. Go.", "# 1 rule. Go.", id="hash in the text"),
        pytest.param("# Source: x\n# a remark\n\nA.", "A.", id="remark in the header"),
        pytest.param("# Title: t\n\n# Source: x\n\n\n#Speaker: y\n\nA.", "A.", id="blank lines"),
        pytest.param("# Source: x\n\n# a remark\n\nA.", "# a remark\n\nA.", id="late remark"),
        pytest.param("# Source: x\n\nA.\n# Key: v", "A.\n# Key: v", id="key below the text"),
    ],
)
def test_transcript_headers_are_read_leniently(tmp_path: Path, content: str, text: str) -> None:
    assert load_talk(write(tmp_path, "talk.txt", content)).text == text


def test_header_lines_apart_are_all_read(tmp_path: Path) -> None:
    content = "# Source: s\n\n# Speaker: Ada\n\n# Title: Looms\n\n# Language: en\n\nOne."
    talk = load_talk(write(tmp_path, "a.txt", content))
    assert (talk.source, talk.speaker, talk.title, talk.language) == ("s", "Ada", "Looms", "en")
    assert talk.remarks == ()


def test_hash_lines_below_the_header_are_text_with_a_remark(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "# Source: s\n\nOne.\n# Title: late\nTwo.\n# more\n")
    corpus = load_corpus(tmp_path)
    assert [talk.text for talk in corpus] == ["One.\n# Title: late\nTwo.\n# more"]
    assert corpus.remarks == (
        f"{path}:4: a line that begins with # below the header is treated as text "
        "(and 1 more such lines)",
    )


@pytest.mark.parametrize("number", [2, 99, 0], ids=["equal", "another", "none"])
def test_sentences_of_a_gold_file_may_be_a_number(tmp_path: Path, number: int) -> None:
    document = gold("One. Two.", [4, 9], sentences=number, language="en")
    talk = load_talk(write(tmp_path, "a.json", document))
    assert (talk.boundaries, talk.language) == ([4, 9], "en")


def test_the_quoted_rule_applies_to_transcripts_and_not_to_gold(tmp_path: Path) -> None:
    text = 'He said "Go." Then ran.'
    write(tmp_path, "a.txt", f"# Source: x\n\n{text}")
    write(tmp_path, "b.json", gold(text, [23]))
    ends = {talk.id: talk.boundaries for talk in load_corpus(tmp_path, "quoted")}
    assert ends == {"a": [13, 23], "b": [23]}


def test_gold_json_keeps_its_text_and_boundaries(tmp_path: Path) -> None:
    document = gold("Hi\r\nyou. Bye", [8, 12], name="N", source="S", sentences=["a", "b"])
    talk = load_talk(write(tmp_path, "g.json", document))
    assert (talk.id, talk.title, talk.source) == ("g", "N", "S")
    assert sentence_texts(talk) == ["Hi\r\nyou.", "Bye"]


def test_a_gold_end_after_white_space_moves_to_the_last_character(tmp_path: Path) -> None:
    talk = load_talk(write(tmp_path, "g.json", gold("One. Two.\n", [5, 10])))
    assert talk.boundaries == [4, 9]


def test_byte_offsets_are_recognised_and_converted(tmp_path: Path) -> None:
    text = "Café. Crème brûlée? Oui."
    ends = [5, 19, 24]
    in_bytes = [len(text[:end].encode()) for end in ends]
    assert in_bytes[-1] != len(text)
    assert load_talk(write(tmp_path, "b.json", gold(text, in_bytes))).boundaries == ends
    assert load_talk(write(tmp_path, "c.json", gold(text, ends))).boundaries == ends


def conllu(*sentences: str) -> str:
    return "\n\n".join(sentences) + "\n\n"


def token(number: str, form: str, misc: str = "_") -> str:
    return "\t".join([number, form, *["_"] * 7, misc])


def sentence(text: str, last_misc: str = "_", *comments: str) -> str:
    return "\n".join([*comments, f"# text = {text}", token("1", text, last_misc)])


CONLLU = {
    "joined by a space": ([sentence("A."), sentence("B.")], "A. B.", [2, 5]),
    "no space after": ([sentence("A.", "SpaceAfter=No"), sentence("B.")], "A.B.", [2, 4]),
    "no space among other notes": (
        [sentence("A.", "Gloss=x|SpaceAfter=No"), sentence("B.")],
        "A.B.",
        [2, 4],
    ),
    "new paragraph": (
        [sentence("A.", "SpaceAfter=No"), sentence("B.", "_", "# newpar id = p2")],
        "A.\nB.",
        [2, 5],
    ),
    "multiword token at the end": (
        [
            "\n".join(
                [
                    "# text = do it can't",
                    token("1", "do"),
                    token("2", "it"),
                    token("3-4", "can't", "SpaceAfter=No"),
                    token("3", "can"),
                    token("4", "not"),
                ]
            ),
            sentence("B."),
        ],
        "do it can'tB.",
        [11, 13],
    ),
    "multiword token before the last word": (
        ["\n".join(["# text = can't go", token("1-2", "can't", "SpaceAfter=No"), token("1", "can"),
                    token("2", "not"), token("3", "go")]), sentence("B.")],
        "can't go B.",
        [8, 11],
    ),
    "empty node at the end": (
        ["\n".join([sentence("A.", "SpaceAfter=No"), token("1.1", "_")]), sentence("B.")],
        "A.B.",
        [2, 4],
    ),
    "other comments": (
        [sentence("A = B.", "_", "# sent_id = 1", "# text_en = no")],
        "A = B.",
        [6],
    ),
    "windows line breaks": ([sentence("A.").replace("\n", "\r\n")], "A.", [2]),
}  # fmt: skip


@pytest.mark.parametrize(("sentences", "text", "ends"), CONLLU.values(), ids=CONLLU)
def test_conllu_joins_sentences(
    tmp_path: Path, sentences: list[str], text: str, ends: list[int]
) -> None:
    talk = load_talk(write(tmp_path, "ud.conllu", conllu(*sentences)))
    assert (talk.text, talk.boundaries) == (text, ends)


def test_a_conllu_file_without_a_last_blank_line_keeps_its_last_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "ud.conllu", sentence("A.") + "\n\n" + sentence("B."))
    assert load_talk(path).text == "A. B."


BAD = {
    "no source": ("a.txt", "# Title: x\n\nA.", "a.txt:1: the header has no '# Source: …' line"),
    "no header": ("a.txt", "Just text.", "a.txt:1: the header has no '# Source: …' line"),
    "source without a value": ("a.txt", "# Source:\n\nA.", "no '# Source: …' line"),
    "empty file": ("a.txt", "", "no '# Source: …' line"),
    "empty body": ("a.txt", "# Source: x\n\n \n", "a.txt:2: no transcript after the header"),
    "not UTF-8": ("a.txt", b"# Source: x\n\nA\xff.", "a.txt:3: not UTF-8"),
    "UTF-16": ("a.txt", "# Source: x\n\nA.".encode("utf-16"), "not UTF-8"),
    "not JSON": ("a.json", '{"text":\n "x"', "a.json: not valid JSON: "),
    "JSON nested too deeply": ("a.json", "[" * 100_000, "a.json: not readable JSON"),
    "JSON list": ("a.json", "[]", "[], not an object"),
    "no text": ("a.json", '{"boundaries": [1]}', "text is missing"),
    "text of another type": ("a.json", '{"text": 3}', "text is 3, not a text"),
    "blank text": ("a.json", gold(" ", [1]), "text is empty"),
    "half a surrogate pair": (
        "a.json",
        r'{"text": "a\ud800", "boundaries": [1]}',
        "half of a surrogate pair",
    ),
    "source of another type": ("a.json", gold("A.", [2], source=1), "source is 1, not a text"),
    "no boundaries": ("a.json", '{"text": "A."}', "boundaries is missing"),
    "empty boundaries": ("a.json", gold("A.", []), "at least one end offset, got an empty list"),
    "boundaries as text": (
        "a.json",
        '{"text": "A.", "boundaries": "2"}',
        "boundaries is '2', not a list",
    ),
    "fraction": (
        "a.json",
        '{"text": "A.", "boundaries": [2.0]}',
        "boundaries[0] is 2.0, not a whole",
    ),
    "truth value": (
        "a.json",
        '{"text": "A.", "boundaries": [true]}',
        "is true, not a whole number",
    ),
    "out of range": ("a.json", gold("A.", [1, 9]), "boundaries[1] is 9, outside the text of 2"),
    "zero": ("a.json", gold("A.", [0, 2]), "boundaries[0] is 0, outside the text"),
    "negative": ("a.json", gold("A.", [-1, 2]), "boundaries[0] is -1, outside the text"),
    "descending": ("a.json", gold("A. B.", [5, 2]), "must ascend, but boundaries[1] is 2 after 5"),
    "repeated": ("a.json", gold("A. B.", [2, 2]), "must ascend"),
    "inside a character": ("a.json", gold("é é", [1, 5]), "boundaries[0] is 1, inside a character"),
    "white space sentence": ("a.json", gold("A.  B", [2, 4, 5]), "has only white space"),
    "sentences as a truth value": ("a.json", gold("A.", [2], sentences=True), "not a whole number"),
    "language of another type": (
        "a.json",
        gold("A.", [2], language=1),
        "language is 1, not a text",
    ),
    "sentences of another type": ("a.json", gold("A.", [2], sentences="x"), "or a list"),
    "sentences that do not fit": (
        "a.json",
        gold("A.", [2], sentences=["A", "."]),
        "2 sentences but 1 boundaries",
    ),
    "no comment with the text": ("a.conllu", token("1", "A"), "a.conllu:1: a sentence without"),
    "not a token": ("a.conllu", "# text = A\nA b c", "a.conllu:2: not a CoNLL-U token"),
    "token id": ("a.conllu", "# text = A\n" + token("x", "A"), "not a CoNLL-U token"),
    "no sentences": ("a.conllu", "# newdoc\n", "no sentences found"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_that_names_the_file(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    write(tmp_path, name, content)
    with pytest.raises(CorpusError) as raised:
        load_corpus(tmp_path)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


SCRAPS = st.sampled_from(
    [
        *(
            "# Source: x",
            "# text = A b.",
            "# newpar",
            "\n",
            "\n\n",
            "\r\n",
            " ",
            "Word. ",
            "é",
            "\x00",
        ),
        *("1\tA\t_\t_\t_\t_\t_\t_\t_\t_", "1-2", "\t", "WEBVTT", "00:01.000 --> 00:02.000", "-->"),
        *(
            '{"text": "A. é", "boundaries": [',
            "2",
            ", ",
            "5",
            "]}",
            "[",
            "null",
            '"',
            "<i>",
            "(",
            ")",
        ),
    ]
)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(derandomize=True, deadline=None, max_examples=150)
@given(content=st.lists(SCRAPS | st.text(max_size=5), max_size=12).map("".join))
def test_any_text_is_a_talk_or_a_corpus_error(
    tmp_path_factory: pytest.TempPathFactory, ending: str, content: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{ending}"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    try:
        talk = load_talk(path)
    except CorpusError:
        return
    assert talk.text.strip()
    assert talk.boundaries == sorted(set(talk.boundaries))
    assert all(talk.text[start:end].strip() for start, end in talk.sentences)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="nowhere: no such folder or file"):
        load_corpus(tmp_path / "nowhere")


def test_a_folder_without_transcripts_is_named(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "nothing")
    with pytest.raises(CorpusError, match="no transcripts in this folder; expected a name ending"):
        load_corpus(tmp_path)


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"talk.doc: not a transcript; expected a name ending"):
        load_corpus(write(tmp_path, "talk.doc", "x"))


def test_a_link_to_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("gone.txt")
    with pytest.raises(CorpusError, match=r"a\.txt: no such file"):
        load_corpus(tmp_path)


def test_files_are_read_in_name_order_and_others_ignored(tmp_path: Path) -> None:
    for name in ("b.txt", "a.TXT", "c.txt", "README.md", ".hidden.txt"):
        write(tmp_path, name, TRANSCRIPT)
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "deeper").mkdir()
    write(tmp_path / "deeper", "d.txt", TRANSCRIPT)
    corpus = load_corpus(tmp_path)
    assert [talk.id for talk in corpus] == ["a", "b", "c"]
    assert len(corpus) == 3


def test_one_file_is_a_corpus(tmp_path: Path) -> None:
    corpus = load_corpus(write(tmp_path, "a.txt", TRANSCRIPT))
    assert [talk.id for talk in corpus] == ["a"]
    assert corpus.characters == len("One. Two.")


def test_a_corpus_reads_its_files_anew_at_each_iteration(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", TRANSCRIPT)
    corpus = load_corpus(tmp_path)
    write(tmp_path, "a.txt", TRANSCRIPT.replace("Two", "Three"))
    assert [talk.text for talk in corpus] == ["One. Three."]
    path.unlink()
    with pytest.raises(CorpusError, match="no such file"):
        list(corpus)


def test_the_checksum_changes_with_text_and_truth_and_not_with_names(tmp_path: Path) -> None:
    def checksum(text: str, rule: TruthRule = "plain", name: str = "a.txt") -> str:
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        write(folder, name, f"# Source: {name}\n\n{text}")
        return load_corpus(folder, rule).checksum

    text = 'He said "Go." Then ran.'
    assert checksum(text) == checksum(text, name="b.txt")
    assert len({checksum(text), checksum(text, "quoted"), checksum(text + " Far.")}) == 3


def test_the_bundled_corpus_holds_24_talks_whose_lines_are_true() -> None:
    corpus = load_corpus(BUNDLED_CORPUS)
    assert len(corpus) == 24
    assert corpus.truths == ("lines",)
    assert all(len(talk.sentences) >= 40 for talk in corpus)


LINES = '# Source: a tape\n# Truth: lines\n\nHe said "Go."\nthen ran\n\n\nIt was 3 p.m. in May.\n'


def test_with_the_header_truth_lines_each_line_is_a_sentence(tmp_path: Path) -> None:
    talk = load_talk(write(tmp_path, "a.txt", LINES), "quoted")
    assert talk.text == 'He said "Go." then ran\n\nIt was 3 p.m. in May.'
    assert sentence_texts(talk) == ['He said "Go."', "then ran", "It was 3 p.m. in May."]
    assert talk.truth == "lines"


def test_truth_lines_can_be_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "# Source: a tape\n\nfirst one\nsecond. one\n")
    talk = load_talk(path, "lines")
    assert sentence_texts(talk) == ["first one", "second. one"]
    assert talk.truth == "lines"


def test_another_truth_in_the_header_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", LINES.replace("Truth: lines", "Truth: words"))
    with pytest.raises(CorpusError, match="'# Truth: words', expected lines"):
        load_talk(path)


def test_a_corpus_names_what_gave_its_truth(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", LINES)
    write(tmp_path, "b.txt", "# Source: x\n\nOne. Two.")
    write(tmp_path, "c.json", '{"text": "One. Two.", "boundaries": [4, 9]}')
    assert load_corpus(tmp_path).truths == ("gold", "lines", "plain")
    assert load_corpus(tmp_path, "unicode").truths == ("gold", "lines", "unicode")


UNPUNCTUATED = "# Source: a recogniser\n\n" + "so we went on and on " * 60


def test_a_text_without_ends_is_refused_unless_a_rule_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", UNPUNCTUATED)
    with pytest.raises(CorpusError, match=r"plain finds 0 sentence ends in 1,259 characters.*sat-"):
        load_talk(path)
    talk = load_talk(path, "plain")
    assert "finds 0 sentence ends" in talk.remarks[0]
    path = write(tmp_path, "b.txt", UNPUNCTUATED + "\n1. 2. 3.")
    assert load_talk(path).remarks == ()
    cues = "1\n00:00:01,000 --> 00:00:04,000\n" + "so we went on and on " * 60
    with pytest.raises(CorpusError, match="sat-bench label"):
        load_talk(write(tmp_path, "c.srt", cues))


def cues_of(words: str) -> str:
    return f"1\n00:00:01,000 --> 00:00:04,000\n{words}"


def test_short_texts_without_ends_are_noted_together(tmp_path: Path) -> None:
    write(tmp_path, "a.srt", cues_of("welcome back this is the morning show and " * 6))
    write(tmp_path, "b.txt", "# Source: x\n\n" + "hello who is this on line two " * 12)
    write(tmp_path, "c.txt", "# Source: x\n\n" + "We sat there. Nobody spoke. " * 20)
    write(tmp_path, "d.txt", LINES)
    (remark,) = load_corpus(tmp_path).remarks
    assert remark == (
        f"{tmp_path}: the rule plain finds 0 sentence ends in 610 characters of 2 of 4 talks, such"
        f" as a.srt: scores say little there; mark the ends with sat-bench label {tmp_path}"
    )
    assert load_corpus(tmp_path, "quoted").remarks[0].count("quoted finds 0 sentence ends") == 1
    (alone,) = load_corpus(tmp_path / "a.srt").remarks
    assert alone.startswith(
        f"{tmp_path / 'a.srt'}: the rule plain finds 0 sentence ends in 251 char"
    )
    assert alone.endswith(f"label {tmp_path}")


def test_a_few_words_without_an_end_are_not_noted(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "# Source: x\n\nthank you")
    write(tmp_path, "b.txt", "# Source: x\n\n" + "and so we went on " * 5 + "home.")
    assert load_corpus(tmp_path).remarks == ()


def test_a_folder_that_is_mostly_short_texts_without_ends_is_refused(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path, f"{number}.vtt", "WEBVTT\n\n00:01.000 --> 00:04.000\n" + "we sat " * 10)
    with pytest.raises(CorpusError, match=r"0 sentence ends in 1,380 characters of 20 of 20 talks"):
        load_corpus(tmp_path)
    assert "say little" in load_corpus(tmp_path, "plain").remarks[0]
    write(tmp_path, "z.txt", "# Source: x\n\n" + "We sat there. Nobody spoke. " * 60)
    assert "of 20 of 21 talks" in load_corpus(tmp_path).remarks[0]


def test_short_texts_and_lines_are_never_refused_for_their_ends(tmp_path: Path) -> None:
    load_talk(write(tmp_path, "a.txt", "# Source: x\n\n" + "word " * 240))
    load_talk(write(tmp_path, "b.txt", UNPUNCTUATED.replace("\n", "\n# Truth: lines\n", 1)))


def test_a_missing_header_is_refused_with_the_command_that_mends_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my talks"
    folder.mkdir()
    mended = folder / "corpus"
    with pytest.raises(CorpusError) as refused:
        load_talk(write(folder, "a.txt", "One. Two."))
    assert str(refused.value).endswith(f"sat-bench import '{folder}' -o '{mended}'")
    monkeypatch.chdir(folder)
    with pytest.raises(CorpusError, match=r"sat-bench import \. -o corpus$"):
        load_talk(Path("a.txt"))


def test_each_document_of_a_treebank_is_a_talk_with_its_id(tmp_path: Path) -> None:
    blocks = [
        sentence("A.", "_", "# newdoc id = weblog-1"),
        sentence("B."),
        sentence("C.", "_", "# newdoc id = weblog-2"),
        sentence("D.", "_", "# newdoc"),
    ]
    path = write(tmp_path, "bank.conllu", "\n\n".join(blocks) + "\n\n")
    corpus = load_corpus(tmp_path)
    assert len(corpus) == 3
    assert [(talk.id, talk.text, talk.boundaries) for talk in corpus] == [
        ("weblog-1", "A. B.", [2, 5]),
        ("weblog-2", "C.", [2]),
        ("bank-3", "D.", [2]),
    ]
    with pytest.raises(CorpusError, match="holds 3 talks, expected one"):
        load_talk(path)


def test_a_gold_file_may_say_where_its_documents_start(tmp_path: Path) -> None:
    text = "Één. Twee.\nDrie."
    path = write(tmp_path, "a.json", gold(text, [4, 10, 16], documents=[0, 11]))
    assert [(talk.id, talk.text, talk.boundaries) for talk in load_talks(path)] == [
        ("a-1", "Één. Twee.", [4, 10]),
        ("a-2", "Drie.", [5]),
    ]
    bytewise = gold(text, [6, 12, 18], documents=[0, 13])
    assert [talk.text for talk in load_talks(write(tmp_path, "b.json", bytewise))] == [
        *("Één. Twee.", "Drie.")
    ]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (["0"], r"documents\[0\] is '0', not a whole number"),
        ([3, 3], "documents must ascend"),
        ([0, 99], "documents must start inside the text"),
        ([0, 2], "must have sentences of its own"),
    ],
)
def test_bad_starts_of_documents_are_refused(
    tmp_path: Path, documents: list[object], message: str
) -> None:
    path = write(tmp_path, "a.json", gold("One. Two.", [4, 9], documents=documents))
    with pytest.raises(CorpusError, match=message):
        load_talks(path)


HEADED = "# Source: tape\n\n"
UNFIT = {
    "Chinese by plain": ("今天下雨。我们回家了。你呢？", None, "does not know the marks 。 ？"),
    "Hindi by quoted": ("यह घर है। वह गया।", "quoted", "try -truth unicode"),
    "Chinese by unicode": ("今天下雨。我们回家了。", "unicode", None),
    "Thai by unicode": ("วันนี้ฝนตก เรากลับบ้าน", "unicode", "Thai and Lao are written without"),
    "Arabic with more full stops": (
        "وصلنا إلى البيت. كان الباب مفتوحا. أين أخي؟ لم نجد أحدا. ثم جلسنا.",
        None,
        "does not know the marks ؟ of this text; try -truth unicode",
    ),
    "Korean that quotes Chinese": (
        "비가 온다. 집에 갔다. 문이 닫혔다. 그는 “好。” 라고 했다. 밥을 먹었다. 잤다.",
        None,
        None,
    ),
    "Arabic by unicode": ("وصلنا إلى البيت. أين أخي؟ لم نجد أحدا.", "unicode", None),
    "Greek questions": ("Πού ήσουν χθες; Σε περίμενα. Ήρθες.", None, "no rule knows ; of Greek"),
    "Greek by unicode": ("Πού ήσουν χθες το βράδυ; Σε περίμενα.", "unicode", "try -truth lines"),
    "Greek without questions": ("Ήμουν στο σπίτι. Σε περίμενα ως αργά.", None, None),
    "Tibetan": ("ཁྱེད་རང་ག་པར་འགྲོ་གི་ཡོད། ང་ནང་ལ་འགྲོ་གི་ཡོད།", "unicode", "no rule knows ། of Tibetan"),
    "English that quotes Arabic": ("He asked: أين أخي؟ Then he left. Nobody knew.", None, None),
    "English with semicolons": ("Café au lait; tea; milk. We left.", None, None),
    "English with accents": ("Café. Naïve? “Why!” he said… No. Yes.", None, None),
    "English that quotes Chinese": ("He said 好。 and left. Then I left. So.", None, None),
}


@pytest.mark.parametrize(("text", "truth", "remark"), UNFIT.values(), ids=UNFIT)
def test_a_rule_that_does_not_know_the_script_says_so(
    tmp_path: Path, text: str, truth: TruthRule | None, remark: str | None
) -> None:
    talk = load_talk(write(tmp_path, "a.txt", HEADED + text), truth)
    assert [remark in line for line in talk.remarks if remark] == [True] * bool(remark)
    assert bool(talk.remarks) == bool(remark)


def test_a_long_text_without_known_marks_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", HEADED + "今天下雨。" * 400)
    with pytest.raises(CorpusError, match="does not know the marks 。 of this text; try -truth"):
        load_talk(path)


def test_run_records_in_the_folder_are_no_talks(tmp_path: Path) -> None:
    write(tmp_path, "gold.json", '{"text": "Yes. No.", "boundaries": [4, 8]}')
    write(tmp_path, "nano.1128a1d8.run.json", '{"format": "truemark.run/1", "tool": "sat-bench"}')
    assert [talk.id for talk in load_corpus(tmp_path)] == ["gold"]

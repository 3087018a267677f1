"""Text in many languages: collecting, splitting, drawing."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

from training.documents import read_mix
from training.world.campaigns import campaign_pages
from training.world.collect import collect, read_document, write_documents
from training.world.draw import draw
from training.world.languages import plain_code
from training.world.manuals import (
    abbreviations,
    pages,
    paragraphs_of,
    sentences_of,
    shared_paragraphs,
)
from training.world.tune import BARE, THRESHOLDS, WRITTEN, gains

from truemark.counts import Counts

SPANISH = ("Llegamos tarde.", "¿Y el perro?", "Se quedó en casa, como siempre.")
JAPANESE = ("雨が降った。", "傘はなかった。", "走って帰りました。")


def test_every_drawn_end_lies_after_a_solid_character() -> None:
    for seed in range(300):
        for language, sentences in (("es", SPANISH * 4), ("ja", JAPANESE * 4)):
            rng = random.Random(seed)
            marked = draw(sentences, language, in_order=bool(seed % 2), rng=rng)
            assert all(not marked.text[end - 1].isspace() for end in marked.ends)
            assert list(marked.ends) == sorted(set(marked.ends))
            assert marked.ends[-1] == len(marked.text.rstrip())


def test_text_in_order_keeps_every_sentence_end() -> None:
    counts = {
        len(draw(SPANISH, "es", in_order=True, rng=random.Random(seed)).ends) for seed in range(100)
    }
    assert counts == {3}


def test_a_page_is_split_by_rule_and_markup_is_left_out() -> None:
    page = '<p class="x">Öffnen Sie z. B. <b>den Brief</b>. Dann am 3. Mai drucken!</p><p>Titel</p>'
    (paragraph,) = paragraphs_of(page)
    assert sentences_of(paragraph, "de", frozenset({"z", "B"})) == [
        "Öffnen Sie z. B. den Brief.",
        "Dann am 3. Mai drucken!",
    ]
    assert sentences_of("開きます。閉じます。", "ja", frozenset()) == ["開きます。", "閉じます。"]
    assert sentences_of("Ohne Ende", "de", frozenset()) == []


def test_abbreviations_are_known_by_their_use_and_short_words_are_none() -> None:
    german = (
        "Das kostet ca. zehn Euro, ca. 5 davon sofort. Dr. Weber weiß es. Wer war da? Ich.",
        "Es war da. Nur ich war es, ich und Dr. Kranz. Da war ca. ein Meter Platz, glaube ich.",
        "Dr. Kranz traf Dr. Weber bei Dr. Abel.",
        "한국어로 갔다. 그는 갔다.",
    )
    found = abbreviations(german)
    assert {"ca", "Dr"} <= found
    assert not found & {"ich", "da", "es", "갔다"}
    assert sentences_of(german[1], "de", found) == [
        "Es war da.",
        "Nur ich war es, ich und Dr. Kranz.",
        "Da war ca. ein Meter Platz, glaube ich.",
    ]


def test_dialogue_of_a_game_is_read_in_its_translations_in_the_order_it_is_spoken(
    tmp_path: Path,
) -> None:
    game = tmp_path / "usr/share/games/wesnoth/1.16"
    scenario = game / "data/campaigns/Tower/scenarios/01.cfg"
    scenario.parent.mkdir(parents=True)
    scenario.write_text(
        "#textdomain wesnoth-tower\n[message]\n speaker=narrator\n"
        ' message= _ "Open the ""old"" gate."\n name= _ "Gate"\n'
        ' story=_"<b>Nobody</b> came."\n message= _ "Run!"\n[/message]\n',
        encoding="utf-8",
    )
    messages = game / "locale/de/LC_MESSAGES"
    messages.mkdir(parents=True)
    translated = {"Run!": "Lauft!", 'Open the "old" gate.': "Öffnet das alte Tor."}
    (messages / "wesnoth-tower.mo").write_bytes(_compiled(translated))
    pages = [(language, lines) for _, _, language, lines in campaign_pages(tmp_path)]
    assert pages == [
        ("en", ['Open the "old" gate.', "Nobody came.", "Run!"]),
        ("de", ["Öffnet das alte Tor.", "Lauft!"]),
    ]


def _compiled(messages: dict[str, str]) -> bytes:
    """Write a catalogue of translations in gettext's binary form."""
    catalogue = {"": "Content-Type: text/plain; charset=UTF-8\n", **messages}
    entries = sorted(catalogue)
    texts = [f"{text}\0".encode() for text in (*entries, *(catalogue[key] for key in entries))]
    start = 28 + 8 * len(texts)
    table, place = b"", start
    for text in texts:
        table += struct.pack("<II", len(text) - 1, place)
        place += len(text)
    header = struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, start)
    return header + table + b"".join(texts)


def test_a_folder_that_is_a_link_to_another_language_is_left_out(tmp_path: Path) -> None:
    help_folder = tmp_path / "package" / "usr" / "share" / "libreoffice" / "help"
    page = help_folder / "cs" / "text" / "shared" / "a.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>Otevře se nové okno s nabídkou.</p>", encoding="utf-8")
    (help_folder / "sk").symlink_to("cs")
    control = tmp_path / "package" / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text("Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: a\n")
    built = ["dpkg-deb", "--build", str(tmp_path / "package"), str(tmp_path / "a.deb")]
    subprocess.run(built, check=True, stdout=subprocess.DEVNULL)
    assert [language for _, _, language, _ in pages(tmp_path)] == ["cs"]


def test_paragraphs_that_two_languages_share_are_known() -> None:
    texts = {
        "cs": ["Okno.", "Nabídka."],
        "sk": ["Nabídka."],
        "en": ["Open."],
        "de": ["Open."],
    }
    assert shared_paragraphs(texts) == {"Nabídka.", "Open."}


def test_near_duplicates_are_left_out_of_the_collection(tmp_path: Path) -> None:
    (tmp_path / "es").mkdir()
    lines = [f"Esta es la frase número {number}, distinta de las otras." for number in range(3)]
    own = [f"{word} caminaba por la calle {word}." for word in ("Ana", "Berta", "Carlos", "Diego")]
    others = ["¿Quién llamó anoche?", "Nadie lo sabe todavía.", "Mañana compramos pan y leche.",
              "El tren salió sin nosotros.", "Hace frío en la cocina.", "Mi tío vende relojes.",
              "Se rompió la ventana del baño.", "Qué lástima de paraguas."]  # fmt: skip
    (tmp_path / "es" / "01.txt").write_text("\n".join([*others, *own]), encoding="utf-8")
    (tmp_path / "es" / "02.txt").write_text("\n".join(lines * 5), encoding="utf-8")
    ((documents, measured),) = collect(tmp_path)
    assert len(documents) == 1
    assert measured.left_out == 15 + (12 - len(documents[0].sentences))
    ((again, measured),) = collect(tmp_path, documents)
    assert again == documents, "what the file already has comes first and is not repeated"


def test_documents_come_back_as_they_were_collected(tmp_path: Path) -> None:
    path = tmp_path / "01.txt"
    path.write_text("Uno.\nDos.\n\nTres.\n", encoding="utf-8")
    document = read_document(path, "es")
    write_documents([document], tmp_path / "mix.txt.xz")
    assert list(read_mix(tmp_path / "mix.txt.xz")) == [document]
    assert document.paragraphs == {0, 2}


def test_codes_of_languages_are_plain() -> None:
    codes = [plain_code(name) for name in ("zh-CN", "pt_BR", "sr@latin", "nb-NO", "zh-HK", "C")]
    assert codes == ["zh", "pt", "sr", "nb", "yue", "en"]


def test_an_own_threshold_is_judged_on_documents_it_was_not_chosen_on() -> None:
    count = len(THRESHOLDS)
    low, high = THRESHOLDS.index(0.2), THRESHOLDS.index(0.6)

    def document(best: int) -> list[Counts]:
        """Everything is right at one threshold, and half of it elsewhere."""
        return [Counts(10, 0, 0) if at == best else Counts(5, 5, 5) for at in range(count)]

    alike = [document(low)] * 4
    assert gains({WRITTEN: alike, BARE: alike}, high) == {WRITTEN: 0.5, BARE: 0.5}
    differing = [document(low), document(high)]  # each is measured at the best of the other
    assert gains({WRITTEN: differing, BARE: differing}, high) == {WRITTEN: -0.25, BARE: -0.25}

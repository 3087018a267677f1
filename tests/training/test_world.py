"""Text in many languages: collecting, splitting, drawing."""

from __future__ import annotations

import random
from pathlib import Path

from training.documents import read_mix
from training.world.collect import collect, read_document, write_documents
from training.world.draw import draw
from training.world.languages import plain_code
from training.world.manuals import paragraphs_of, sentences_of

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
    assert sentences_of(paragraph, "de") == [
        "Öffnen Sie z. B. den Brief.",
        "Dann am 3. Mai drucken!",
    ]
    assert sentences_of("開きます。閉じます。", "ja") == ["開きます。", "閉じます。"]
    assert sentences_of("Ohne Ende", "de") == []


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

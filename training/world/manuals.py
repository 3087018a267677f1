"""Read translated manuals and game dialogue as documents, split into sentences by rule.

python -m training.world.manuals FOLDER OUT.txt.xz

FOLDER has Debian packages, which `apt-get download` fetches: `libreoffice-help-CODE` (MPL 2.0),
`gnome-user-docs` (CC BY-SA 3.0) and `wesnoth-1.16-*` (GPL 2+). Left out are paragraphs that two
languages share, which mostly were not translated, and folders that are links to another language,
such as sk to cs.
"""

from __future__ import annotations

import argparse
import html
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from training.documents import Document
from training.world.campaigns import campaign_pages
from training.world.collect import write_documents
from training.world.languages import CLOSING, FINAL_MARKS, ORDINALS, plain_code

SEED = 20261116
MOST = 9_000  # sentences of a language from one source
FEWEST = 5  # sentences of a page
_PARAGRAPH = re.compile(r"<p(?:\s[^>]*)?>(.*?)</p>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_END = re.compile(
    rf"[{FINAL_MARKS}]+[{re.escape(CLOSING)}]*\s+(?=\S)|[。！？]+[{re.escape(CLOSING)}]*(?=\S)"
)
_LOWER = re.compile(r"[a-zà-öø-ÿа-яёα-ωίόάέύήώ]")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|\.(?=\w))*")
_LAST_WORD = re.compile(rf"({_WORD.pattern})\.$")
LONGEST_ABBREVIATION = 5  # characters
# A word is an abbreviation if it mostly has a full stop, and words in lower case or numbers often
# follow; one with a capital, such as a title, if it is frequent and nearly always has a full stop.
STOPPED, CONTINUED, STOPPED_CAPITAL, FREQUENT = 0.6, 0.3, 0.9, 5


def abbreviations(paragraphs: Iterable[str]) -> frozenset[str]:
    """Find the abbreviations of a language by how its short words are used."""
    uses: Counter[str] = Counter()
    stopped: Counter[str] = Counter()
    continued: Counter[str] = Counter()
    for paragraph in paragraphs:
        for match in _WORD.finditer(paragraph):
            word, after = match[0], paragraph[match.end() : match.end() + 3]
            if len(word) > LONGEST_ABBREVIATION or word[0].lower() == word[0].upper():
                continue
            uses[word] += 1
            if after.startswith("."):
                stopped[word] += 1
                follower = after[1:].lstrip()[:1]
                continued[word] += follower.islower() or follower.isdigit() or follower == ","
    return frozenset(
        word
        for word, count in uses.items()
        if len(word) == 1
        or (stopped[word] >= STOPPED * count and continued[word] >= CONTINUED * stopped[word] > 0)
        or (word[0].isupper() and stopped[word] >= max(FREQUENT, STOPPED_CAPITAL * count))
    )


def sentences_of(paragraph: str, language: str, shortened: frozenset[str]) -> list[str]:
    """Split a paragraph by rule, given the abbreviations of its language.

    Return nothing if its last sentence has no final mark.
    """
    if not paragraph or paragraph.rstrip(CLOSING)[-1:] not in FINAL_MARKS:
        return []
    sentences, start = [], 0
    for match in _END.finditer(paragraph):
        before = paragraph[start : match.end()].rstrip()
        if _LOWER.match(paragraph[match.end()]):
            continue
        last = _LAST_WORD.search(before)
        if last and last[1] in shortened:
            continue
        if language in ORDINALS and re.search(r"\d\.$", before):
            continue
        sentences.append(before)
        start = match.end()
    return [*sentences, paragraph[start:].strip()]


def paragraphs_of(page: str) -> Iterator[str]:
    """Read the paragraphs of an HTML or Mallard page, without its markup."""
    body = page[max(0, page.find("DisplayArea")) :]
    body = re.sub(r"<(info|title)[\s>].*?</\1>", " ", body, flags=re.DOTALL)
    for match in _PARAGRAPH.finditer(body):
        text = " ".join(html.unescape(_TAG.sub("", match[1])).split())
        if len(text) > 20 and ">" not in text:
            yield text


def pages(folder: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Unpack the packages; yield source, licence, language and paragraphs of each page."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for package in sorted(folder.rglob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
        for source, licence, pattern in (
            ("LibreOffice help", "MPL 2.0", "usr/share/libreoffice/help/*/text/**/*.html"),
            ("GNOME user docs", "CC BY-SA 3.0", "usr/share/help/*/*/*.page"),
        ):
            place = 4 if source.startswith("Libre") else 3
            for path in sorted(root.glob(pattern)):
                parts = path.relative_to(root).parts
                name, folder_of_language = parts[place], root.joinpath(*parts[: place + 1])
                # Serbian in Latin letters is the same text.
                if "@" not in name and not folder_of_language.is_symlink():
                    page = path.read_text(encoding="utf-8", errors="replace")
                    yield source, licence, plain_code(name), list(paragraphs_of(page))
        yield from campaign_pages(root)


def shared_paragraphs(by_language: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Find the paragraphs that several languages have: in all but one they are copies."""
    counts = Counter(text for texts in by_language.values() for text in set(texts))
    return frozenset(text for text, count in counts.items() if count > 1)


def documents_of(folder: Path) -> list[Document]:
    """Read the pages with enough sentences, up to `MOST` sentences per source and language."""
    manuals = list(pages(folder))
    by_language: dict[str, set[str]] = {}
    for _, _, language, texts in manuals:
        by_language.setdefault(language, set()).update(texts)
    shared = shared_paragraphs(by_language)
    shortened = {name: abbreviations(texts - shared) for name, texts in by_language.items()}
    rng = random.Random(SEED)
    rng.shuffle(manuals)
    counts: dict[tuple[str, str], int] = {}
    seen: set[str] = set()
    documents = []
    for source, licence, language, texts in manuals:
        if language == "en" or counts.get((source, language), 0) >= MOST:
            continue
        sentences: list[str] = []
        starts = set()
        for text in texts:
            if text in shared or text in seen:
                continue
            seen.add(text)
            split = sentences_of(text, language, shortened[language])
            if split:
                starts.add(len(sentences))
                sentences += split
        if len(sentences) >= FEWEST:
            counts[source, language] = counts.get((source, language), 0) + len(sentences)
            documents.append(
                Document(f"{source} ({licence})", language, tuple(sentences), frozenset(starts))
            )
    return documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    documents = documents_of(options.folder)
    counts: dict[str, int] = {}
    for document in documents:
        counts[document.style] = counts.get(document.style, 0) + len(document.sentences)
    print(dict(sorted(counts.items())))
    write_documents(documents, options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

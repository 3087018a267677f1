"""Sentence segmenters that install from PyPI and run offline, each as a function of a text.

They are imported when they are loaded, so that any of them may be missing.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from sat_bench.models.boundaries import sentences
from sat_bench.models.finding import DEFAULT_MODEL, find_model

Split = Callable[[str], Sequence[str]]

INSTALL = "python -m pip install -r benchmarks/requirements.txt"
PUNKT_INSTALL = (
    "python -m nltk.downloader punkt_tab, or python -m pip install --no-deps llama-index-core"
)


class MissingPeerError(Exception):
    """A segmenter that is left out: why, and what to install."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A segmenter by the name of its package; `load` gives its function, models in memory.

    `scored` is false where only the speed is of interest.
    """

    package: str
    load: Callable[[], Split]
    kind: str = ""
    scored: bool = True

    @property
    def name(self) -> str:
        """The package with its version, and what of it is used."""
        return f"{self.package} {metadata.version(self.package)}{self.kind and f', {self.kind}'}"


def load(peer: Peer) -> Split:
    """The peer's function, or MissingPeerError with what to install."""
    try:
        metadata.version(peer.package)
        with warnings.catch_warnings():
            # Notes of the libraries to their developers, such as a module that will move.
            warnings.simplefilter("ignore")
            return peer.load()
    except metadata.PackageNotFoundError:
        raise MissingPeerError(f"{peer.package}: not installed: {INSTALL}") from None
    except ImportError as error:
        raise MissingPeerError(f"{peer.package}: does not load ({error}): {INSTALL}") from error


def _blingfire() -> Split:
    module: Any = import_module("blingfire")
    return lambda text: module.text_to_sentences(text).split("\n")


def _icu() -> Split:
    breaker: Any = import_module("icu4py.breakers").SentenceBreaker
    return lambda text: list(breaker(text, "en"))


def _nltk_punkt() -> Split:
    nltk: Any = import_module("nltk")
    # The package holds a copy of NLTK's data; nothing of it is imported.
    for file in _files("llama-index-core"):
        if file.match("nltk_cache/tokenizers/punkt_tab/english/*"):
            nltk.data.path.append(str(file.parents[3]))
            break
    try:
        nltk.sent_tokenize("Ready.")
    except LookupError:
        raise MissingPeerError(f"nltk: punkt's data is not installed: {PUNKT_INSTALL}") from None
    return lambda text: nltk.sent_tokenize(text)


def _files(package: str) -> Iterable[Path]:
    try:
        return [Path(str(file.locate())) for file in metadata.files(package) or ()]
    except metadata.PackageNotFoundError:
        return ()


def _phrasplit() -> Split:
    module: Any = import_module("phrasplit")
    return lambda text: module.split_sentences(text, use_spacy=False)


def _segtok() -> Split:
    module: Any = import_module("segtok.segmenter")
    return lambda text: list(module.split_single(text))


def _sentencex() -> Split:
    module: Any = import_module("sentencex")
    return lambda text: list(module.segment("en", text))


def _sentsplit() -> Split:
    import_module("loguru").logger.disable("sentsplit")
    segmenter: Any = import_module("sentsplit.segment").SentSplit("en")
    return lambda text: segmenter.segment(text)


def _spacy() -> Split:
    pipeline: Any = import_module("spacy").blank("en")
    pipeline.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in pipeline(text).sents]


def _syntok() -> Split:
    module: Any = import_module("syntok.segmenter")

    def split(text: str) -> list[str]:
        return [
            text[tokens[0].offset : tokens[-1].offset + len(tokens[-1].value)]
            for paragraph in module.analyze(text)
            for tokens in paragraph
        ]

    return split


def _wtpsplit_lite() -> Split:
    peer_module = import_module("benchmarks.wtpsplit_peer")
    files = find_model(DEFAULT_MODEL)
    with tempfile.TemporaryDirectory() as folder:
        peer: Any = peer_module.WtpsplitPeer(
            Path(folder) / "wtpsplit", files.model, files.tokenizer
        )
    return lambda text: sentences(text, peer.boundaries(text, files.threshold))


PEERS = (
    Peer("blingfire", _blingfire),
    Peer(
        "charboundary",
        lambda: import_module("charboundary").get_small_onnx_segmenter().segment_to_sentences,
        "small ONNX model",
    ),
    Peer("icu4py", _icu, "Unicode's rules"),
    Peer("nltk", _nltk_punkt, "punkt"),
    Peer("nupunkt", lambda: import_module("nupunkt").sent_tokenize),
    Peer("nupunkt-rs", lambda: import_module("nupunkt_rs").create_default_tokenizer().tokenize),
    Peer("phrasplit", _phrasplit, "without spaCy"),
    Peer("pysbd", lambda: import_module("pysbd").Segmenter(language="en", clean=False).segment),
    Peer("segtok", _segtok),
    Peer(
        "sentence-splitter",
        lambda: import_module("sentence_splitter").SentenceSplitter("en").split,
    ),
    Peer("sentencesplit", lambda: import_module("sentencesplit").Segmenter("en").segment),
    Peer("sentencex", _sentencex),
    Peer("sentsplit", _sentsplit),
    Peer("spacy", _spacy, "sentencizer"),
    Peer("syntok", _syntok),
    # The same model as the bundled one, so its boundaries tell nothing new; its speed does.
    Peer("wtpsplit-lite", _wtpsplit_lite, f"with {DEFAULT_MODEL}", scored=False),
)

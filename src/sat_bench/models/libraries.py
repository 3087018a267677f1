"""Segmenters installed in the same environment, each under `lib:NAME`.

To add one, put its package into `LIBRARIES`, with a function that loads it and returns a function
of a text. A library is imported when it is opened, so that any of them may be missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from sat_bench.models.answers import Split, TextSystem
from sat_bench.models.protocol import ModelError
from truemark.jsontext import shown

PUNKT_DATA = "python -m nltk.downloader punkt_tab, or pip install --no-deps llama-index-core"
Load = Callable[[str], Split]


def library_system(name: str) -> TextSystem:
    """Find the system of a name `lib:NAME` or `lib:NAME:ARGUMENT`."""
    _, _, rest = name.partition(":")
    package, _, argument = rest.partition(":")
    if package not in LIBRARIES:
        raise ModelError(f"{name}: no such library; known are {', '.join(LIBRARIES)}")
    load, usual_argument = LIBRARIES[package]
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        raise ModelError(f"{name}: not installed: pip install {package}") from None
    if argument and usual_argument is None:
        raise ModelError(f"{name}: takes no argument, got {shown(argument)}; name it lib:{package}")
    argument = argument or usual_argument or ""
    identity = {"library": f"{package} {version}", "argument": argument}
    return TextSystem(name, identity, partial(_loaded, load, argument))


@contextmanager
def _loaded(load: Load, argument: str) -> Iterator[Split]:
    with warnings.catch_warnings():
        # Libraries warn their own developers, for example of a module that will move.
        warnings.simplefilter("ignore")
        yield load(argument)


def _blingfire(_: str) -> Split:
    module: Any = import_module("blingfire")
    return lambda text: module.text_to_sentences(text).split("\n")


def _charboundary(size: str) -> Split:
    module: Any = import_module("charboundary")
    split: Split = getattr(module, f"get_{size}_onnx_segmenter")().segment_to_sentences
    return split


def _icu(language: str) -> Split:
    breaker: Any = import_module("icu4py.breakers").SentenceBreaker
    return lambda text: list(breaker(text, language))


def _nltk(language: str) -> Split:
    nltk: Any = import_module("nltk")
    # llama-index-core ships NLTK's data; its code is not imported.
    for file in _files("llama-index-core"):
        if file.match("nltk_cache/tokenizers/punkt_tab/english/*"):
            nltk.data.path.append(str(file.parents[3]))
            break
    try:
        nltk.sent_tokenize("Ready.", language)
    except LookupError:
        raise ModelError(f"punkt's data is not installed: {PUNKT_DATA}") from None
    return lambda text: nltk.sent_tokenize(text, language)


def _files(package: str) -> Iterable[Path]:
    try:
        return [Path(str(file.locate())) for file in metadata.files(package) or ()]
    except metadata.PackageNotFoundError:
        return ()


def _sentsplit(language: str) -> Split:
    import_module("loguru").logger.disable("sentsplit")
    split: Split = import_module("sentsplit.segment").SentSplit(language).segment
    return split


def _spacy(pipeline: str) -> Split:
    spacy: Any = import_module("spacy")
    if pipeline:
        try:
            loaded = spacy.load(pipeline)
        except OSError:
            raise ModelError(
                f"spaCy's pipeline {pipeline} is not installed: python -m spacy download {pipeline}"
            ) from None
    else:
        loaded = spacy.blank("en")
        loaded.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in loaded(text).sents]


def _stanza(language: str) -> Split:
    stanza: Any = import_module("stanza")
    try:
        pipeline = stanza.Pipeline(
            language, processors="tokenize", download_method=None, verbose=False
        )
    except FileNotFoundError:  # stanza's own errors derive from this class
        command = f"import stanza; stanza.download('{language}', processors='tokenize')"
        raise ModelError(
            f'stanza\'s data for {language} is not installed: python -c "{command}"'
        ) from None
    return lambda text: [sentence.text for sentence in pipeline(text).sentences]


def _syntok(_: str) -> Split:
    module: Any = import_module("syntok.segmenter")

    def split(text: str) -> list[str]:
        return [
            text[tokens[0].offset : tokens[-1].offset + len(tokens[-1].value)]
            for paragraph in module.analyze(text)
            for tokens in paragraph
        ]

    return split


def _sat(module: str, model: str) -> Split:
    sat: Any = import_module(module).SaT(model)
    return lambda text: list(sat.split(text))


# By package: the function that loads it, and the default of its argument; None: it takes none.
LIBRARIES: dict[str, tuple[Load, str | None]] = {
    "blingfire": (_blingfire, None),
    "charboundary": (_charboundary, "small"),
    "icu4py": (_icu, "en"),
    "nltk": (_nltk, "english"),
    "nupunkt": (lambda _: import_module("nupunkt").sent_tokenize, None),
    "nupunkt-rs": (lambda _: import_module("nupunkt_rs").create_default_tokenizer().tokenize, None),
    "phrasplit": (
        lambda _: partial(import_module("phrasplit").split_sentences, use_spacy=False),
        None,
    ),
    "pysbd": (
        lambda code: import_module("pysbd").Segmenter(language=code, clean=False).segment,
        "en",
    ),
    "segtok": (lambda _: import_module("segtok.segmenter").split_single, None),
    "sentence-splitter": (
        lambda code: import_module("sentence_splitter").SentenceSplitter(code).split,
        "en",
    ),
    "sentencesplit": (lambda code: import_module("sentencesplit").Segmenter(code).segment, "en"),
    "sentencex": (lambda code: partial(import_module("sentencex").segment, code), "en"),
    "sentsplit": (_sentsplit, "en"),
    "spacy": (_spacy, ""),
    "stanza": (_stanza, "en"),
    "syntok": (_syntok, None),
    "wtpsplit": (partial(_sat, "wtpsplit"), "sat-3l-sm"),
    "wtpsplit-lite": (partial(_sat, "wtpsplit_lite"), "sat-3l-sm"),
}

"""Defaults and allowed values of the flags, and the options they make; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from truemark.counts import Weights

Format = Literal["text", "markdown", "csv", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

TruthRule = Literal["plain", "quoted", "unicode"]
TRUTH_RULES: tuple[TruthRule, ...] = get_args(TruthRule)
LINES: Literal["lines"] = "lines"
# The values of -truth, and the sources that the true sentence ends of a talk may have.
Truth = Literal[TruthRule, "lines"]
TRUTHS: tuple[Truth, ...] = get_args(Truth)
TruthSource = Literal[Truth, "gold"]

Condition = Literal["written", "lower", "upper", "no-punctuation", "one-line", "bare", "asr"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
WRITTEN: Condition = "written"

Weighting = Literal["hat", "uniform"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
DEFAULT_WEIGHTING: Weighting = "hat"

Runtime = Literal["onnx", "openvino", "cuda"]
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)
DEFAULT_RUNTIME: Runtime = "onnx"

Mode = Literal["evaluation", "sweep", "comparison", "conditions"]

HEADER_NAMES = ("source", "speaker", "title", "duration", "language")
BUNDLED_FOLDER = Path(__file__).parent / "bundled"
BUNDLED_CORPUS = BUNDLED_FOLDER / "talks"
# Bundled corpora, by the names that -corpus takes.
BUNDLED_CORPORA = {"bundled": BUNDLED_CORPUS, "languages": BUNDLED_FOLDER / "languages"}
DEFAULT_CORPUS = Path("testdata/ted")
DEFAULT_MODEL = "base"
ENGLISH_MODELS = ("nano", "small", DEFAULT_MODEL)
BUNDLED_MODELS = (*ENGLISH_MODELS, "world")

WINDOW_TOKENS = 510  # 512 positions less <s> and </s>; some models have fewer
LARGEST_OVERLAP = WINDOW_TOKENS - 1
DEFAULT_TIMEOUT_S = 120.0  # for one text
DEFAULT_THRESHOLD = 0.025
DEFAULT_TOLERANCE = 3  # characters
DEFAULT_WEIGHT = 1.0  # of precision and of recall
DEFAULT_GRID = (0.01, 0.20, 0.01)  # first threshold, end, step
MOST_LOCAL_WORKERS = 256

STANDARD_INPUT = "-"
GOLD_FOLDER = "gold"  # below a folder of labelled talks
MODEL_MARK = "{model}"
CONDITION_MARK = "{condition}"


def _equal_weights() -> Weights:
    from truemark.counts import EQUAL_WEIGHTS

    return EQUAL_WEIGHTS


@dataclass(frozen=True, slots=True)
class Options:
    """What a run of `sat-bench` measures, and how it shows the results."""

    models: tuple[str, ...] = (DEFAULT_MODEL,)
    compare: bool = False
    tokenizer: Path | None = None
    corpus: Path | None = None
    truth: Truth | None = None  # None: as each file says, else the first rule
    sweeps: bool = False
    thresholds: tuple[float, ...] | None = None  # None: the threshold of each model
    tolerance: int = DEFAULT_TOLERANCE
    weights: Weights = field(default_factory=_equal_weights)
    overlap: int | None = None  # None: the overlap of each model
    weighting: Weighting = DEFAULT_WEIGHTING
    runtime: Runtime = DEFAULT_RUNTIME
    cache: Path | None = None
    cluster: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    conditions: tuple[Condition, ...] = (WRITTEN,)
    shows_conditions: bool = False
    record: Path | None = None
    format: Format = "text"
    per_talk: bool = False
    inner: bool = False
    verbose: bool = False
    without_effect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """Which text to cut into sentences, and with which model; without a file, standard input."""

    file: Path | None = None
    model: str = DEFAULT_MODEL
    tokenizer: Path | None = None
    threshold: float | None = None  # None: the threshold of the model
    complete: bool = False
    as_json: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S

"""Folders of transcripts: which files belong to a corpus, and the talks they hold."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sat_bench.corpus.gold import parse_conllu, parse_gold_json
from sat_bench.corpus.subtitles import parse_subtitles
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.corpus.transcripts import parse_transcript
from sat_bench.defaults import BUNDLED_CORPUS, TruthRule
from truemark.errors import TruemarkError, os_reason
from truemark.files import read_text

ENDINGS = (".txt", ".json", ".conllu", ".srt", ".vtt")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The talks of a folder, read one at a time and again for each iteration."""

    files: tuple[Path, ...]
    truth: TruthRule
    characters: int
    checksum: str
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Talk]:
        return (load_talk(file, self.truth) for file in self.files)


def load_corpus(
    path: str | Path = BUNDLED_CORPUS,
    truth: TruthRule = "plain",
    watch: Callable[[Sequence[Path]], Iterable[Path]] = iter,
) -> Corpus:
    """Load the corpus of a folder or file, by default the bundled talks.

    Every file is read once here, so a bad one is reported before anything is measured. `watch`
    wraps the files, and may show how many have been read.
    """
    files = transcript_files(Path(path))
    characters = 0
    remarks: list[str] = []
    digest = hashlib.sha256()
    for file in watch(files):
        talk = load_talk(file, truth)
        characters += len(talk.text)
        remarks += talk.remarks
        for part in (talk.text, ",".join(map(str, talk.boundaries))):
            digest.update(hashlib.sha256(part.encode()).digest())
    return Corpus(files, truth, characters, digest.hexdigest(), tuple(remarks))


def transcript_files(path: Path) -> tuple[Path, ...]:
    """List the transcript files of a folder by name, or the one file itself."""
    try:
        if path.is_dir():
            files = tuple(sorted(file for file in path.iterdir() if _is_transcript(file)))
        elif path.exists():
            files = (path,) if path.suffix.lower() in ENDINGS else ()
        else:
            raise CorpusError(
                f"{path}: no such folder or file; -corpus takes a folder of transcripts"
            )
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {os_reason(error)}") from error
    if not files:
        problem = "no transcripts in this folder" if path.is_dir() else "not a transcript"
        raise CorpusError(f"{path}: {problem}; expected a name ending in {', '.join(ENDINGS)}")
    return files


def holds_transcripts(path: Path) -> bool:
    return path.is_dir() and any(map(_is_transcript, path.iterdir()))


def load_talk(path: Path, truth: TruthRule = "plain") -> Talk:
    """Read the talk of one file in the format of its ending."""
    try:
        content = read_text(path)
    except TruemarkError as error:
        raise CorpusError(str(error)) from error
    match path.suffix.lower():
        case ".json":
            return parse_gold_json(path, content)
        case ".conllu":
            return parse_conllu(path, content)
        case ".srt" | ".vtt":
            return parse_subtitles(path, content, truth)
        case _:
            return parse_transcript(path, content, truth)


def _is_transcript(path: Path) -> bool:
    if path.suffix.lower() not in ENDINGS or path.name.startswith("."):
        return False
    # A broken link counts, so that the missing talk is reported.
    return path.is_file() or not path.exists()

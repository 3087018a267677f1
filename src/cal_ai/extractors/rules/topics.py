"""What a stretch of talk is about, where no known activity names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from cal_ai.extractors.rules.moments import find_moments
from cal_ai.extractors.rules.patterns import pattern, words
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.spans import covers
from cal_ai.extractors.rules.spelling import plain
from cal_ai.extractors.rules.vocabulary import FILLERS, NOBODY, STOPS
from cal_ai.transcript import Utterance

_BEFORE = 6
_LONGEST = 3
_PURPOSE = words("for about")
_DOING = words("do have having doing")
_ARTICLES = words("the a an your our my this no")
_SENTENCE = r"[.!?;:]+\s+|\s+-+\s+|\s*—\s*|\.{2,}\s*"
# Nouns of any conversation: they tell nothing about what is planned.
_EMPTY = words(
    """
    time times day days week weeks weekend month year morning afternoon evening night hour hours
    minute minutes half quarter moment way thing things stuff bit lot side end start place house
    home office room man woman guy people person one ones anyone someone nobody everybody else
    same other next last first second whole rest door phone number name list place places problem
    question idea reason point chance slot calendar diary couple few address email message car
    street traffic weather kids kid boy girl friend friends lad lads mate guys love dear god
    yes no ok please thanks sorry right left back early late later earlier soon done gone
    today tomorrow tonight yesterday nine ten eleven twelve clock o'clock am pm euros dollars
    pounds life world fault joke mind favour favor luck bye cheers hello morning's it's that's
    brother sister mother mum mom dad father wife husband daughter son boss aunt uncle cousin nan
    deal perfect brilliant lovely wonderful cool nice fine sure excellent noted agreed
    mr mrs ms dr noon midnight table date dates mine yours ours theirs hers his sir ma'am
    """
)


def topic_of(plan: Plan, utterances: Sequence[Utterance], now: datetime) -> str:
    """The thing most likely meant by a plan without activity, "" if nothing stands out."""
    if not plan.lines:
        return ""
    own = {utterance.line for utterance in plan.lines}
    first = next(i for i, utterance in enumerate(utterances) if utterance.line in own)
    last = max(i for i, utterance in enumerate(utterances) if utterance.line in own)
    names = {name for u in utterances for name in u.speaker.lower().split(" ")}
    scores: dict[str, float] = {}
    for position, utterance in enumerate(utterances[max(0, first - _BEFORE) : last + 1]):
        near = 2.0 if utterance.line in own else 0.0
        said = dict(_things(utterance, names, now))
        for thing, score in said.items():
            scores[thing] = (
                scores.get(thing, 0.0) + score + near + (0.5 if position < _BEFORE else 0.0)
            )
    if not scores:
        return ""
    best = max(scores, key=lambda thing: (scores[thing], len(thing)))
    return best if scores[best] >= _ENOUGH else ""


_ENOUGH = 3.0


def _things(utterance: Utterance, names: set[str], now: datetime) -> Iterator[tuple[str, float]]:
    """Noun phrases of an utterance with how strongly they stand out."""
    for sentence in pattern(_SENTENCE).split(plain(utterance.words)):
        moments = find_moments(sentence, now).spans
        tokens = list(pattern(r"[\w'&-]+|,").finditer(sentence))
        short = sum(token[0] != "," for token in tokens) <= 4
        taken: list[str] = []
        lead = ""
        for token in (*tokens, None):
            lower = token[0].lower() if token is not None else ""
            timed = token is not None and covers(moments, token.start(), token.end())
            if token is not None and not timed and _names_a_thing(lower, names):
                taken.append(lower)
                continue
            if taken and len(taken) <= _LONGEST:
                weight = _weight(lead, short, taken)
                if weight:
                    yield " ".join(taken), weight
            ends = (lower in _ARTICLES or lower.endswith("ly")) and lead in _PURPOSE and not taken
            lead = lead if ends else lower
            taken = []


_NO_THINGS = STOPS | FILLERS | NOBODY | _EMPTY | _ARTICLES


def _names_a_thing(word: str, names: set[str]) -> bool:
    bare = word.removesuffix("'s")
    return (
        word[:1].isalpha()
        and len(word) > 2
        and bare not in _NO_THINGS
        and bare not in names
        and not word.endswith(("ly", "n't", "'ll", "'ve", "'re", "'d"))
    )


def _weight(lead: str, short: bool, taken: Sequence[str]) -> float:
    noun = taken[-1].endswith(("ing", "ment", "tion", "al", "check", "day"))
    if lead in _PURPOSE:
        return 2.0 + 0.5 * noun
    if lead in _ARTICLES or lead in _DOING:
        return 1.0 + 0.5 * noun
    if lead in ("", ",") and short and (noun or len(taken) > 1):
        return 2.0
    return 0.0

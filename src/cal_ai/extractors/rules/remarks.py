"""What a clause says about the conversation itself: what it is about, whom it concerns."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import found

_HAVING = (
    r"\b(?:i have(?! to)|i've(?: already)? got(?! to)|i've(?! got| had to)|i got|i'm (?:already )?"
    r"(?:in|at|on|having|doing|seeing|helping)|we have(?! to)|we've(?: got)?|there's|already|then"
    r"|has|conflicts?|clash(?:es)?|same (?:day|time))\b|\bthat's (?:the|my|our) "
)
_BACKING_OUT = r"\b(?:cry off|make it|come|be there|pull out|back out|drop out|cancel|skip|miss)\b"
_ENGAGED = (
    r"\b(?:i have(?! to)|i've(?: already)? got(?! to)|i'm (?:already )?(?:in|at|on|out with|having"
    r"|seeing|helping|flying|picking|teaching|working))\b"
)
_COMING = (
    r"\b(?:coming|going|joining|be there|make it|attending|up for)\b.*\?|^\W*(?:are|will) you\b"
)
_ABOUT = (
    r"(?<!how )(?<!what )(?<!talk )(?<!talking )(?<!think )(?<!worry )"
    r"\b(?:about|regarding|(?<!')re:?|as for)\b"
)
_HANDLING = (
    r"\b(?:bring(?:ing)?|mak(?:e|es|ing)|buy(?:ing)?|cook(?:ing)?|eat(?:ing)?|drink(?:ing)?|pack(?:ing)?"
    r"|carry(?:ing)?|order(?:ing)?|pour(?:ing)?|'ll have|finish(?:ing)?|owe)"
    r"(?: (?:you|me|us|him|her|them))?(?: (?:the|an?|some|my|your|our|his|her|another|more))*\s*$"
)
_DETAIL = r"\b(?:time|start|room|place|length|long|rest|hours?|minutes|same)\b"
_ALL_OF_THEM = (
    r"\b(?:all (?:of (?:them|it)|two|three|four|five)|both|them(?: all)?|those|everything)\b"
)
_ALL = r"\b(?:everything|all (?:my|the|our|of)|every)\b"
_MANY = (
    r"\b(?:everything|all|whole|entire|every|both|rest of|anything|meetings|calls|appointments)\b"
    r"|\b(?:clear|wipe|free up)\b"
)
_JOINING = (
    r"\b(?:me too|i'm in|count me in|i'll (?:join|come|be there)|same here|room for|works for me"
    r"|also|i can (?:do|make))\b"
)
_EARNEST = (
    r"\b(?:seriously|jok(?:es|ing) (?:aside|apart)|but for real|no,? but really)\b(?=[ ,]|\W*$)"
)
_OPEN = r"\b(?:let me know|keep me posted|once (?:you|it|they)|when you know)\b"
_NEXT = (
    r"^\W*(?:(?:ok|so|and|then|right|oh|well|now),? )*(?:next|first|second|third|fourth|last"
    r"|finally|also|another|one more|item|number|moving on|on to|about the|as for|then the|and the"
    r"|now the)\b"
)
_ITEM = (
    r"^\W*(?:(?:and|so|oh|ok|right|the|now),? )*(?:first|second|third|fourth|next|last|finally|also"
    r"|item \w+|number \w+|(?:one (?:more|last|other)|another|the (?:next|last|other)|last|next)"
    r" (?:thing|point|matter|question)|by the way|before i forget)\W*$"
)
_VERB = (
    r"\b(?:is|are|was|were|be|has|have|had|do|does|did|can|could|will|would|should|might|no|not|i|we"
    r"|you|he|she|they|it|got|get|made|makes?|wants?|needs?|goes|comes?|came|took|takes?|said|says"
    r"|likes?|looks?|who|why|how)\b|'(?:s|re|ve|ll|d|m)\b(?= (?:a|an|the|not|no|been|at|on)\b)"
    r"|n't\b"
)
_HEADING = (
    r"^\W*(?:(?:ok|so|and|then|now|next|right|first|second|third|last|finally|also|oh|well|the"
    r" last thing|last thing|another thing|one more(?: thing)?|item \w+)[,.:]? )*"
    r"(?:(?:about|regarding|as for|what about) )?(?:the |our |my |your )?"
    r"(?:[\w'-]+ ){0,4}[\w'-]+\W*$"
)


def has_something(text: str) -> bool:
    """Whether somebody has something on at a time."""
    return found(_HAVING, text)


def backs_out(text: str) -> bool:
    """Whether somebody will not come after all."""
    return found(_BACKING_OUT, text)


def is_taken(text: str) -> bool:
    """Whether the speaker says where else he is then."""
    return found(_ENGAGED, text)


def asks_who_comes(text: str) -> bool:
    """Whether the hearer is asked to come."""
    return found(_COMING, text)


def is_about(text: str) -> bool:
    """Whether the clause says what the talk is about ("about Thursday")."""
    return found(_ABOUT, text)


def only_talks(text: str) -> bool:
    """Whether something is named only as what people talk or think about."""
    return found(r"\b(?:talk|think|dream|read|hear|moan|joke|worry|write)\w* about\b", text)


def is_handled(before: str) -> bool:
    """Whether what follows is only a thing that somebody brings, makes or has."""
    return found(_HANDLING, before)


def names_a_detail(text: str) -> bool:
    """Whether a part of a plan is named: its time, its place, its length."""
    return found(_DETAIL, text)


def means_all_of_them(text: str) -> bool:
    """Whether all that was just named is meant."""
    return found(_ALL_OF_THEM, text)


def means_all(text: str) -> bool:
    """Whether everything of a day is meant."""
    return found(_ALL, text)


def means_many(text: str) -> bool:
    """Whether more than one event is meant."""
    return found(_MANY, text)


def joins(text: str) -> bool:
    """Whether the speaker wants to take part in what others plan."""
    return found(_JOINING, text)


def turns_earnest(text: str) -> bool:
    """Whether what was said before is shown to have been in jest ("seriously though")."""
    return found(_EARNEST, text)


def hesitates(text: str) -> bool:
    """Whether the speaker thinks again ("oh wait", "hang on")."""
    return found(r"\b(?:wait|hang on|hold on|oh no|oh dear|damn)\b(?! (?:for|until|till|a))", text)


def leaves_open(text: str) -> bool:
    """Whether the speaker waits for what others will decide."""
    return found(_OPEN, text)


def goes_on_to_next(text: str) -> bool:
    """Whether the talk turns to the next matter."""
    return found(_NEXT, text)


def counts_items(text: str) -> bool:
    """Whether the clause only counts ("third")."""
    return found(_ITEM, text)


def has_a_verb(text: str) -> bool:
    """Whether the clause is more than a heading."""
    return found(_VERB, text)


def is_heading(text: str) -> bool:
    """Whether the clause could be a heading ("next, the roadmap")."""
    return found(_HEADING, text)

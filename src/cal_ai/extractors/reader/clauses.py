"""Utterances cut into clauses: "not Thursday, but Friday works" makes two statements."""

from __future__ import annotations

from cal_ai.extractors.reader.patterns import found, pattern, small, small_pattern

_SENTENCE = (
    r"(?<=[.!?])[\"')\]]*\s+|(?<=[a-z]{3})\.(?=[A-Z])|[;\n]|\s+-{1,2}\s+|\s*—\s*|\s–\s"
    r"|\.{2,}\s*|\s*[\U0001F300-\U0001FAFF]\s*(?=\w)"
)
_START = (
    r"(?:how about|what about|can (?:we|you|I)|could (?:we|you|I)|may I|shall we|should we|let's"
    r"|maybe"
    r"|make (?:it|that)|no\b|nope|yes|yeah|yep|"
    r"actually|wait|but|because|since|unless|if|see you|sounds|works|works for|I|I'm|I'll|I've|I'd"
    r"|we|we're|we'll|we've|you|are you|"
    r"do you|does|would|is|it's|that|that's|the|my|our|he|she|they|cancel|move|push|book|schedule"
    r"|add|put|remind|delete|reschedule|"
    r"drop|also|instead|not|otherwise|say|and|so|or|then|see|ok|sure|great|perfect|any chance|want"
    r" to|please|don't|sorry|oh|plus|"
    r"although|though|except|just|scratch|forget|never ?mind|call it|there's|there|this|what|when"
    r"|where|who|why|how|did|which|same|"
    r"thanks|same time|will|have)\b"
)
_VERB_START = (
    r"(?:(?:then |also |maybe |instead |please |just )*(?:let's|can (?:we|you|I)|could (?:we|you"
    r"|I)|cancel|move|push|book|schedule|add|put|I'll|I've|I have|I'm|I can|I"
    r"|we'll|we have|we've|we should|we can|we could|we're|we need|how about|what about|remind"
    r"|delete|reschedule|drop|you (?:can|could|should)|don't|make it|make the|make sure|bump|shift"
    r"|invite|block|clear|set|get rid|do (?:the|it|our)|keep|leave|see you|he|she|they|it's|that's"
    r"|there's))\b"
)
_VERDICT = (
    r"(?:\w+ (?:we|I)'(?:ll|m|re|ve)|\w+day|tomorrow|today|tonight|\d{1,2}(?::\d\d)?(?:am|pm)?)"
    r" (?:is|works|doesn't|won't|would|might|looks|sounds|isn't|I|i)\b"
)
_STATED = (
    r"(?!what|when|how|who|where|that)[\w'-]+(?: [\w'-]+)?"
    r"(?:(?: is|'s) (?:only |not )(?:at|until|till)| (?:isn't|is) (?:until|till))\b"
)
_CUTS = (
    rf",\s+(?!the \d|or (?:on |at |a |the )?(?:week|\w+day|tomorrow|\d))"
    rf"(?={_START}|{_VERDICT}|{_STATED})"
    rf"|,?\s+(?:but|because|although|though|except that|whereas)\s+"
    rf"|(?<!\byou)\s+and\s+(?={_VERB_START})"
    rf"|\s+so\s+(?={_VERB_START}|that's|how|what|maybe|\d)|,\s+(?=\d{{1,2}}(?::\d\d)?\s?(?:am"
    rf"|pm)?\s?\?)|:\s+|\s+if you(?:'re| are| can| want| don't)|\s+unless\s"
    r"|\s+then\s+(?=let's|we|can|how|I|the)"
)

# What nobody says in one breath is cut, since the search for times should stay quick.
_LONGEST = 500


def clauses(text: str) -> list[str]:
    """The clauses of `text` in order."""
    result: list[str] = []
    for sentence in pattern(_SENTENCE).split(text):
        if not sentence or not sentence.strip(" .,!"):
            continue
        start = 0
        for cut in [*small_pattern(_CUTS).finditer(small(sentence)), None]:
            part = sentence[start : cut.start() if cut else len(sentence)].strip(" ,")
            if cut is not None and found(r" (?:since|like|from|until|till)$", part):
                continue  # "since, what, Easter?"
            start = cut.end() if cut else len(sentence)
            if part.strip(".!?"):
                result.append(part[:_LONGEST])
    return result

"""Whether a clause calls something off, moves it, or says that it stays."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import found, pattern, phrases

_CANCEL = phrases(
    r"""
    cancel(?:l?ed|l?ing|s|lation)?\b
    (?:call|sack|bin|blow)(?:ed|ing)? (?:(?:it|that|this|\w+|(?:the|our|my) \w+
    ...|the whole thing) )?off\b
    scrap(?:ped|ping)?\b
    scratch (?!that)
    delet(?:e|ed|ing)\b
    remov(?:e|ed|ing)\b
    drop(?:ped|ping)?\b (?:the|our|my|that|it|this|lunch|dinner|coffee|\w+day)\b(?! (?:kids|off))
    axe\b|nix(?:ed)?\b|ditch(?:ed|ing)?\b|kill (?:the|our|that)\b
    (?:take|taking|get|knock|strike|cross) (?:[\w':]+ ){1,6}(?:off|out of|from) (?:my|the
    ...|your|our) (?:calendar|schedule|books|plate)
    wipe(?:d)? (?:out |off )?(?:my|the|our|everything|all|today|tomorrow|\w+day)\b
    clear(?:ed|ing)? (?:out |off )?(?:my|the|our|everything|all|that|your|\w+day)
    get rid of
    skip(?:ping)? (?:the|our|my|this|that|it|lunch|dinner|coffee|\w+day)\b
    bail(?:ing)? on\b
    back(?:ing)? out of\b
    forget (?:about )?(?:it|the|that|lunch|dinner|coffee|our|my|\w+day)\b
    never ?mind\b
    not happening
    (?:no longer|not) (?:happening|needed|on\b(?! (?:the|an?|my|\w+day))|necessary)
    no longer (?:need|doing|going|meeting)
    (?:it|that|this|everything)(?:'s| is) off\b(?! (?:to|by|work|limits|on))
    (?:take|strike|cross|knock) (?:it|that|them|this|you|me|him|her) (?:out|off)\b
    (?:everything|all of it|it all)\b.* (?:has|have|needs?) to go\b
    (?:\w+day|that|it)(?:'s| is) dead\b
    (?:won't|don't) (?:be needing|need) (?:it|the|that|my|our|this)\b
    (?:won't|isn't|not going to) (?:be happening|happen|take place|be taking place|go ahead)
    (?:not|isn't) (?:taking place|going ahead)
    free up (?:my|the)\b
    don't need (?:the|our|that|it|to meet|you (?:on|for))
    give (?:it|that|my \w+|the \w+) to (?:somebody|someone|anyone)
    pull the plug
    ^off(?: too| as well| also| then)?\W*$
    (?:can|could|will) (?:do it|go|run it|manage|cope) without me
    """
)
_NOT_CANCELLING = (
    r"(?:\b(?:don't|do not|won't|not|never|didn't|wouldn't|hate to|rather not|nearly|almost"
    r"|isn't|aren't|wasn't)"
    r"|(?:'d|\bwould) have to|\b(?:thought|thinking|talk(?:ed)?|considered) (?:about|of)) (?:\w+ )?"
    r"(?:cancel|delet|remov|drop|skip|forget|bail|miss|scrap)\w*\b"
    r"|\bforget to\b"
    r"|\bdrop(?:ping|ped)? (?:[\w']+ ){1,2}(?:off|at|to|by|over)\b"
)
_MOVE = phrases(
    r"""
    shift (?:it|that|this|the|our|my|your|them|everything|to|by|back)\b|shifted\b|shifting\b
    (?:moves?|moved|moving|bump(?:ed|ing)?|push(?:ed|ing)?|slide|slid)\b(?! (?:in\b
    ...|out of|house|apartments?|on\b|forward with|into))
    (?:switch(?:ed|ing)?|swap(?:ped)?|chang(?:e|ed|ing))\b(?! (?:my mind|your mind|jobs?|subjects?
    ...|topics?))
    reschedul\w*
    can (?:[\w']+ ){1,4}wait\b
    postpon\w*
    delay(?:ed)?\b
    rebook\w*
    bring (?:[\w':]+ ){1,4}(?:forward|up)\b
    pull (?:[\w':]+ ){1,4}(?:in|forward|up)\b
    adjust\w*
    extend(?:ed|ing)?\b
    (?:shorten|lengthen)\b
    cut (?:[\w':]+ ){1,4}(?:short|down|to|by|back)\b
    instead\b(?! of (?:the|a|that|going))
    rather than\b
    (?:earlier|later)\b(?! (?:today|this|on\b))
    make (?:it|the [\w ]+|our [\w ]+) (?:longer|shorter|earlier|later)
    start(?:s|ing)? (?:earlier|later)
    relocat\w*
    (?:different|another|new) (?:time|day|slot)\b
    (?:is|are|it's) now\b
    now (?:at|on|in)\b
    com(?:es|ing) (?:on |at )?(?:the )?[\w:]+(?: at [\w:]+)? now\b
    turn (?:[\w']+ ){1,3}into
    update (?:the|my|our)
    put (?:off|back) (?:the|our|my|it|that)\b|put (?:it|that|them|(?:the|our|my) \w+) (?:off|back)\b
    goes? to (?=\w+day|the \d)
    """
)


def cancels(text: str) -> bool:
    return found(_CANCEL, text) and not found(_NOT_CANCELLING, text)


_LEFT_OUT = phrases(
    r"""
    falls? (?:out|through)\b
    take (?:[\w'-]+ ){1,3}out\b
    (?:drop(?:ping)?|(?<!the )skip(?:ping)?|bail(?:ing)? on|bow out|pull out of|pass on)\b
    miss(?:ing)?\b
    no (?:[\w'-]+ ){1,3}(?:today|tomorrow|tonight|this|next|on|\w+day)\b
    (?:needn't|don't (?:have|need) to|no need to) (?:go|come)\b
    strike (?:it|that|this|them)\b
    """
)
_IS_OFF = (
    r"(?:\bis|\bare|'s|'re) off\b(?<!phone is off)(?<!phone's off)"
    r"(?! (?:to|by|work|limits|on|sick|today|duty))"
)
_NO_MORE = r"^(?:so,? |then )?no (?:[\w'-]+ ?){1,2}(?:,? then)?\W*$"


def leaves_out(text: str) -> bool:
    """Whether something is left out or off ("no choir on Monday", "the picnic is off")."""
    left_out = found(_LEFT_OUT, text) or found(_NO_MORE, text)
    left_out = left_out or (" off" in text and found(_IS_OFF, text))
    return left_out and not found(_NOT_CANCELLING, text)


def leaves_that_out(text: str) -> bool:
    """Whether what was just named is left out ("That's out", "I'll tell her no")."""
    return found(
        r"^(?:and |so |then )?(?:that's |it's |they're |that one's )?out"
        r"(?: too| as well| then)?\W*$"
        r"|\btell (?:him|her|them) (?:no|it's off|(?:i|we) can't)\b",
        text,
    )


_LATER_IS = r"(?:'s|\bis|\bare|\bwas)(?: [\w'-]+){1,4} (?:later|earlier)\b"


_OTHER_ONE = (
    r"^\W*(?:and|what about)?,? ?the [\w ]+ (?:days?|weeks?) (?:later|earlier)\W*$"
    r"|^\W*the (?:later|earlier)(?: one)?\b"
)


def names_another(text: str) -> bool:
    """Whether another one is named by how much later it is ("And the class a week later?")."""
    return found(_OTHER_ONE, text)


def moves(text: str) -> bool:
    """Whether the clause moves something; "the party is a week later" only says when it is."""
    return found(_MOVE, pattern(_LATER_IS).sub("", text)) and not names_another(text)


_KEEP = phrases(
    r"""
    as (?:planned|printed|agreed|before|it (?:is|was)|they (?:are|were))\b
    (?:leave|keep|leaving|keeping) (?:it|that|them|\w+day(?: [\w ]{1,12})?)(?: (?:where|as|the way
    ...|on|in|at|for)\b|\W*$)
    (?:leave|keep|leaving|keeping) the [\w ]{1,20} (?:where|as|the way|on|at)\b
    forget i asked\b
    (?:stays?|staying|remains?)\b(?! (?:at (?:home|mine|yours|the)|home|with|over|up|late|for|till
    ...|until|here|there|in bed|overnight))
    (?:doesn't|don't|won't|isn't going to|not going to) (?:move|change
    ...|be (?:moved|cancelled|changed))\b
    (?:isn't|aren't|not) (?:being )?(?:cancelled|canceled|moved|moving|off|changed)\b
    as (?:usual|always)\b
    (?:goes|going|will go|can go) ahead\b(?! (?:and|with))(?<!won't go ahead)(?<!not going ahead)
    unchanged\b
    nothing (?:changes|else changes|has changed)\b
    don't (?:touch|cancel|move|change|delete|drop|reschedule)\b
    (?:not|never) (?:moving|cancelling|canceling|changing|touching|dropping|skipping|missing)\b
    (?:isn't|aren't|not|won't be) affected\b
    (?:still|definitely|certainly) (?:on|happening)\b
    same as (?:ever|always|usual)\b
    like (?:it always was|we said|always)\b
    no (?:need|reason) to (?:move|cancel|change)\b
    """
)


def keeps(text: str) -> bool:
    """Whether something stays as it was ("we leave it where it is", "as planned")."""
    return found(_KEEP, text)

"""Why a clause may plan nothing although it names a time: jokes, wishes, stories, the past."""

from __future__ import annotations

from cal_ai.extractors.rules.activities import kinds
from cal_ai.extractors.rules.patterns import cased, found, pattern, phrases, words
from cal_ai.extractors.rules.vocabulary import WEEKDAYS

_HYPOTHETICAL = phrases(
    r"""
    (?<!asked )(?<!asks )(?<!asking )(?<!me )(?<!us )(?<!wondering )(?<!know )(?<!see )(?<!check
    ... )(?<!ask )if (?!you(?:'re
    ...| are| can| want| like| don't mind| have| prefer| could)?\b|that|possible|not\b
    ...|so\b|anything|everyone|everybody|needed|it's (?:ok|easier|better|possible)|it (?:works
    ...|helps|suits)|we (?:can|could|do|say|make|meet|start|go|keep
    ...|stick)|it's \d|i (?:can|leave|get out))
    one of these days|one day\b(?! (?:later|earlier|before|after|sooner))|some ?day\b
    sometime (?!around|on\b|after|before|tomorrow|next|this|in the)|sometime\W*$
    some ?time soon
    eventually\b
    in theory|theoretically|hypothetical
    would(?:'ve| have)\b|could(?:'ve| have)\b|should(?:'ve| have)\b
    i wish\b|if only\b
    imagine\b|suppose\b
    in (?:an ideal|a perfect) world
    dream(?:ing)? of
    were to\b
    would be (?:nice|fun|cool|great|amazing) (?:if|to)\b
    at some point (?!today|tomorrow|this|next)
    at some point\W*$
    when (?:i|we) (?:retire|win|grow up|finally)
    in another life
    would you rather
    soon\W*$
    in case\b|unless\b
    been meaning to
    every (?:now and then|once in a while)
    """
)
_NEGATED = phrases(
    r"""
    never (?:going|doing|attending|having|again|ever)
    (?:not|isn't|aren't) (?:going to (?:have|do|go|be|attend|schedule|make)|having|attending
    ...|scheduling|planning)
    won't be (?:having|doing|going|attending)
    no (?:more|longer) \w+ing\b
    (?:won't|don't|doesn't) have (?:the|any|an?)\b(?! time)
    """
)
_PAST = phrases(
    r"""
    was (?!thinking|asking (?:if|for|whether)|wondering|hoping|going to|planning|about to
    ...|scheduled|originally|looking|at \d|on \w+day|set|calling|trying|moved|pushed|rescheduled
    ...|cancell?ed|changed|postponed)
    (?:we|they|i|he|she|you)'d (?:been|booked|had|gone|met|planned|already|just|said|agreed|never)\b
    (?:turned up|walked in|made (?:us|me|him|her|them)|stepped down|rang|brought|paid)\b
    (?:was|were) (?:supposed|going) to\b.*\b(?:and|but)\b
    were (?!thinking|wondering|planning|to\b|hoping)
    wasn't|weren't
    went\b
    (?:i|we|he|she|they|you|who|[a-z]+) had\b(?! (?:only )?(?:\w+day|the \d|\d|an opening|a slot)
    ...| to (?:cancel|move|reschedule|push|postpone
    ...|change)|n't)
    met\b|did\b(?! you want)|saw\b|ate\b|came\b|took\b|flew\b|drove\b|slept\b|woke\b|ran\b|spoke\b
    got back
    used to\b
    began\b
    (?:'ve|have|has|haven't|hasn't)\b.*\bsince\b
    ended up
    (?:finished|attended|hosted|happened|visited|stayed|enjoyed|loved|watched|played|talked
    ...|skipped|missed|showed up|turned out)\b
    remember (?:when|that|last|how)
    back when
    ago\b
    didn't (?!you)
    hung out
    called (?!off|it off)
    bumped into
    forgot\b
    thought we\b
    """
)
_ARRANGED = phrases(
    r"""
    (?:booked|scheduled|reserved|arranged|signed (?:up|us|me)|confirmed|set up|registered|bought)\b
    (?:moved|pushed|rescheduled|cancell?ed|postponed|changed|shifted|bumped)\b
    made (?:a|an|the|us a) (?:reservation|appointment|booking)
    got (?:us |me )?(?:a reservation|tickets|an appointment)
    thought we (?:could|might|should)
    agreed\b|promised\b
    ask(?:ed)? (?:if|whether|me|us|for)\b
    had to (?:cancel|move|reschedule|push|postpone|change)
    """
)
_ARRANGED_AT = (
    r"\b(?:booked|arranged|made|bought|got) (?:it|that|them)"
    r" (?:just now|this morning|today|earlier)\b"
)
_SARCASM = (
    r"(?<![a-z])(?:yeah,? right\b(?!,)|\bas if\b(?! (?:it|we|i))|in your dreams|pigs fly"
    r"|hell freezes|\bnot!"
    r"|/s\b|🙄|🙃|just what i (?:need|always wanted)|said no ?(?:one|body)|exactly what i "
    r"(?:need|wanted)|what could (?:possibly )?go wrong|love that for (?:me|us)|be still my|living "
    r"the dream|i'd rather (?:die|eat|watch paint|chew|stick|have a root)|over my dead body"
    r"|(?<!you )(?<!you're )\bkidding\b|\bjk\b|\bjoking\b|just messing|sarcas|when i'm dead"
    r"|wildest dreams|eye ?roll"
    r"|how about never|is never good|twist my arm|sure,? (?:right after|because)|right after i"
    r"|because (?:that's|that is|nothing|who doesn't|i (?:just )?love|sleep)|who needs sleep"
    r"|sleep is (?:for|overrated)|can hardly wait|hold (?:my|your) breath|what every\w* (?:wants"
    r"|dreams)"
    r"|my (?:absolute )?favou?rite (?:thing|way|hobby)|as one does|obviously not"
    r"|\blmao\b"
    r"|\brofl\b|on the moon\b|\bon mars\b|next lifetime|30th of february|february 30|twelfth of"
    r" never"
    r"|nothing i(?:'d)? (?:rather|(?:love|like|enjoy) more)|in a million years|a thousand years"
    r"|with the (?:queen|king|president|pope)|unicorns?\b)"
)
_IRONY = (
    r"\boh,? (?:sure|great|joy|yay|wonderful|fantastic|lovely|perfect|yeah|absolutely|good)\b",
    r"\bcan't wait\b",
    r"\b(?:thrilled|delightful|sounds (?:amazing|thrilling|riveting|delightful|super)"
    r"|how (?:fun|exciting|wonderful|lovely)|(?:so|super) (?:fun|exciting|excited)|totally|clearly"
    r"|obviously|love (?:that|those|me|nothing)|what a (?:treat|dream|joy)|honou?red)\b",
    r"\b(?:lol|haha+|ha ha|hah)\b|😂|🤣|😏|😒",
    r"\b[1-5] ?am\b|\bmidnight\b|\b[345] in the morning\b|\bcrack of dawn\b",
    r"\b(?:yet another|eight|ten|twelve|six)[ -](?:hours?|meetings?)\b"
    r"|\b(?:all night|all weekend|on a sunday|christmas (?:day|morning))\b",
)
_ANY_IRONY = "|".join(_IRONY)
_TOLD = phrases(
    r"""
    in (?:the|that|this) (?:movie|book|show|novel|episode|film|story|scene|game|series|script
    ...|podcast|chapter|trailer)
    the (?:main )?(?:character|hero|villain|protagonist)
    plot\b
    (?:was|were) like\b|(?:he|she)'s like\b
    (?:movie|book|film|novel|show|story|song) (?:where|about|in which)
    the (?:line|quote|lyrics|song|poem) (?:is|was|goes|says)
    lyrics|meme\b
    dreamt|dreamed|had a dream|in my dream
    """
)
_LEAD = (
    r"^\W*(?:(?:oh|and|so|but|well|yeah|yes|no|sorry|apparently|actually|also|hey|because"
    r"|btw|by the way"
    r"|i (?:think|heard|hear|guess|know)(?: that)?|did you (?:hear|know)|you know|looks like|turns"
    r" out"
    r"|wait|speaking of which)[ ,]*)*"
)
_SUBJECT = (
    r"(?P<who>(?i:he|she|they|mom|dad|mum|grandma|grandpa|hubby)|(?i:my|his|her|their) (?:\w+"
    r" )?\w+?"
    r"|[A-Z]\w+(?: [A-Z]\w+)?(?: (?:and|&) (?:[A-Z]\w+|(?:his|her) \w+))?"
    r"|(?i:the|those) (?:kids|boys|girls|neighbou?rs|guys|interns|twins|other team|\w+s))"
    r"(?:'s(?! (?:\w+day|tomorrow|at|on|\d))|'re|'ll|'d| is| are| has| have| will| wants?| got"
    r"| just| needs?| said| says| and|, who) "
)
_NOT_PEOPLE = words(
    """
    tomorrow today noon it that there this
    what everything everyone here how who when where which why time date place appointment calendar
    schedule someone anyone everybody day week afternoon morning evening slot train bus flight plan
    one traffic weather yes no ok mine works boss's meetings calls tickets doors
    """
)
_NOT_PEOPLE |= WEEKDAYS


def is_sarcastic(text: str) -> bool:
    """One sure sign, or two that are harmless alone."""
    if found(_SARCASM, text):
        return True
    return found(_ANY_IRONY, text) and sum(found(sign, text) for sign in _IRONY) >= 2


def is_hypothetical(text: str) -> bool:
    return found(_HYPOTHETICAL, text)


def is_told(text: str) -> bool:
    """Whether the clause retells a film, a book, a dream or somebody's words."""
    return found(_TOLD, text)


def is_negated(text: str) -> bool:
    """Whether the clause says what will not be."""
    return found(_NEGATED, text)


def is_habitual(text: str) -> bool:
    """Whether the clause says what somebody does time and again ("I play on Sundays")."""
    return found(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b", text) and not found(
        r"\d|\b(?:let's|we could|could we|can we|shall we|cancel|move)\b", text
    )


def is_past(text: str) -> bool:
    """Whether the clause tells of the past; arrangements made in the past concern the future."""
    if found(_ARRANGED_AT, text):
        return True
    if found(r"\b(?:would|mind|what|ok|better|how about)\b.*\bif (?:we|i|you)\b", text):
        return False  # "Would you mind if we met on Sunday?"
    return found(_PAST, text) and not found(_ARRANGED, text)


_REPORTING = (
    r"^\W*(?:do you (?:think|know)(?: if| whether)?"
    r"|(?:he|she|they|[a-z]+) (?:also |just )?(?:says?|said|thinks?|told (?:me|us))(?: that)?) "
)
_OFFERS = (
    r"\b(?:suggest|offer|propos|ask|request|would like|wants? (?:to meet|a|an)\b"
    r"|(?:had|have|has) (?:\w+ )?(?:\w+day|the \d|an opening|a slot|room|space|a gap|half past"
    r"|\d)\b"
    r"|(?:gave|can do|could do|can come|could come|can be (?:here|there|with)"
    r"|can make|can see|can offer|can fit)"
    r" (?:\w+ ){0,5}?(?:\w+day|the \d|the day after|tomorrow|today|an opening"
    r"|a slot|room|space|a gap|half past|\d)\b)"
)


_GOES_ON = (
    r"^\W*(?:(?:and|so|oh|but|well|now|because|by then),? )*(?:(?:on )?\w+day,? )?"
    r"(?:the|their|his|her|its|this) "
    r"(?:[\w'-]+ ){1,4}?(?:closes?|shuts?|locks?|opens?|leaves?|goes|gets?|comes?|files?|runs?"
    r"|arrives?|has to|have to|needs? to|don't|doesn't|won't|isn't|aren't|charges?|wants?|only)\b"
)


def is_a_circumstance(text: str) -> bool:
    """Whether the clause tells what some thing does ("the bakery shuts at six")."""
    if found(r"\b(?:can|could|will|would)\b", text):
        return False
    return found(_GOES_ON, text) and not found(r"\b(?:we|us|our|let's|i|you|your|me)\b", text)


_THEIRS = r"^\W*(?:(?:and|but|so|oh|well|now),? )*(?:his|her|their) (?!\w+ (?:asked|suggested))"
_FAMILY = (
    r"^\W*(?:[Aa]nd |[Bb]ut |[Ss]o )?[Tt]he [A-Z]\w+s (?:go|fly|come|leave|move|are|have|got)\b"
)
_RELATIVE = (
    r"^\W*(?:(?:and|so|oh|but|well|now|then),? )*your (?:\w+ )?(?:brother|sister|dad|mum|mom|father"
    r"|mother|uncle|aunt|auntie|cousin|son|daughter|boy|girl|wife|husband|nan|gran|grandma"
    r"|grandpa|nephew|niece|neighbou?r|friend|boss|colleague|lot|parents|kids)(?:'s|'ll| is| are"
    r"| has| have| will| goes| comes| leaves| gets| wants| needs| starts) "
)


def is_about_others(text: str, owner: str) -> bool:
    """Whether the clause tells what people other than speaker, hearers and owner do."""
    text = pattern(_REPORTING).sub("", text)
    if found(_RELATIVE, text) or cased(_FAMILY).search(text):
        return True
    if found(_THEIRS, text) and not found(r"\b(?:see|meet|take) (?:us|me|you)\b", text):
        return True
    if found(r"\b(?:we|we're|we'll|us|our|let's|you|your|i|i'm|i'll|i've)\b", text):
        return False
    if found(r"\bme\b", text) and not found(r"^\W*(?:and |but |so )?(?:he|she|they)\b", text):
        return False
    if (owner and owner.lower() in text.lower()) or found(_OFFERS, text):
        return False
    lead = pattern(_LEAD).match(text)
    match = cased(_SUBJECT).match(text, lead.end() if lead else 0)
    if match is None:
        return found(r"^\W*(?:he|she|they)(?:'s|'re|'ll)?\b", text)
    who = match["who"].lower()
    last = who.split(" ")[-1]
    if any(w in kinds() or w in _NOT_PEOPLE for w in (last, last.removesuffix("s"), who)):
        return False
    comes = r"\b(?:visiting|coming (?:over|to|by)|staying|arriv\w+|land(?:s|ing))\b"
    return not (who.startswith("my ") and found(comes, text))

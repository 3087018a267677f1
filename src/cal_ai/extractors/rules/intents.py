"""What a clause sets out to do: propose, invite, announce, move, cancel, correct."""

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
    turn (?:[\w']+ ){1,3}into
    update (?:the|my|our)
    put (?:off|back) (?:the|our|my|it|that)\b|put (?:it|that|them|(?:the|our|my) \w+) (?:off|back)\b
    goes? to (?=\w+day|the \d)
    """
)
_CORRECTION = phrases(
    r"""
    actually\b
    wait\b
    i meant?\b
    correction\b
    make (?:it|that)\b
    scratch that
    instead\b
    on second thought
    rather\b
    change of plans?
    my (?:bad|mistake)
    oops|whoops
    sorry,? (?:i|make|it|not)\b
    better yet
    hold on\b
    strike that
    typo\b|misspoke\b
    let's (?:make|do|say|go with)\b
    """
)
_PROPOSAL = phrases(
    r"""
    how(?: about|'s| does)\b
    what(?: about| if we| time)\b
    let's\b(?! see\b(?! (?:each|him|her|them|a|the|if we)\b))
    (?:shall|should|can|could|may|will|would) (?:we|i|you)\b
    do you want\b
    want to\b
    are you (?:all |guys |both |still )?(?:free|available|around|up for|good|ok|able|in town|on for)
    you (?:free|available|around|up for|in\b(?= for\b|\W*$)
    ...|guys free|all free|still on|still good|still free)
    (?<!signed )up for\b
    interested in
    maybe we\b
    we (?:could|should|can|need|have to|might)\b
    why don't (?:we|you|i)
    (?:does|would|will) [\w:', ]+ (?:work|suit|sound|be (?:ok|good|better|possible|too))
    (?:do|does) (?:you|everyone|anyone|anybody) have (?:time|any|a)\b
    (?:have|got|any) time\b
    (?:is|are) [\w:' ]+ (?:ok|good|free|possible|too|better)\b
    thinking\b
    i(?:'d| would) like\b
    (?:was )?(?:hoping|wondering|wanted to)\b
    fancy\b
    join (?:me|us)
    care to\b
    any chance
    is it possible
    wants? to (?:meet|see|talk|speak)\b
    need to (?:meet|schedule|find|set|talk|sync|catch|get|book|plan|do|have)\b
    (?:suggest(?:ed|s)?|proposed?|offered|asked (?:for|if)|looked at|settled on|landed on
    ...|looking at)\b
    (?:would )?love to\b
    tell you what
    when (?:can|are|works|would|should)\b
    which day
    let me know
    works better|better for me|prefer\b
    (?:\w+day|morning|afternoon|evening|week|\d)(?: \w+)? (?:would|'d) (?:be (?:good|better|best
    ...|fine|great|ideal|perfect)|suit|work)\b
    i (?:can|could)\b
    (?:i'm|i am) (?:free|available|open|around)
    (?:free|available|open|around) (?:on|at|after|before|from|all|any|until|till)\b
    anyone (?:up|want|free)
    who'?s (?:up|in|free)
    (?:is )?everyone (?:free|available|ok|good)
    (?:it|that)(?:'s got| has|'d have|'ll have|'s) to be\b
    i need an? (?!hour|few|moment|minute|break|drink|new)
    i need (?:you\b|to (?:see|talk|meet|speak)|\d+ minutes|an? (?:hour|few|moment))
    need you\b
    can (?:somebody|someone|anyone|anybody|one of you)\b
    you and (?:i|me)\b
    """
)
_INVITATION = phrases(
    r"""
    (?:want|like|love) (?:you )?to (?:come|join|go|tag along|be there)
    join (?:me|us)\b
    you (?:should|could|can) (?:come|join|tag)
    you(?:'re| are| and \w+ are| all are)? (?:both )?(?:coming|invited|welcome to|all invited)
    can you (?:make it|come|join|be there|attend)
    come (?:along|with (?:me|us)|over|by|join)\b
    will you (?:come|be there|join)
    (?:are )?you in\b(?= for\b|\W*$)
    are you (?:coming|going)\b
    care to join
    interested\?
    why don't you (?:come|join)
    hope you can (?:make|come)
    need you (?:there|to be there|to join)
    """
)
_CALENDAR = phrases(
    r"""
    (?<!don't )remind me\b
    (?:put|add|stick|throw|pop|get|pencil|note|mark|log|enter|drop)\b[^.?!]*\b(?:calendar|schedule
    ...|diary|agenda|books)\b
    (?:put|pencil|write|note|mark|jot) (?:[\w':]+ ){1,5}(?:down|in)\b
    block (?:off|out)?\b
    mark (?:your|my) calendar
    save the date
    schedule (?:a|an|the|my|me|us|our|it|that|some)\b
    set (?:up|a reminder)\b
    book (?:a|an|the|me|us|my|it|that)\b
    create (?:a|an)\b
    pencil in\b
    add (?:a|an|the|my)\b
    """
)
_ANNOUNCEMENT = phrases(
    r"""
    i(?:'ve| have)(?: also| already)?(?: got)? (?:a|an|my|the|that|this|another|two|three)\b
    i(?:'ve| have)(?: also)?(?: got)? to (?:be|go|pick|take|drop|fly|leave|meet|attend|present|see
    ...|get|give)\b
    i(?:'ve| have)(?: also)?(?: got)? (?:[\w:'-]+ ){1,5}(?:at|on|tomorrow|tonight|today|this
    ...|next|from|\w+day)\b
    i (?:finally |just |also |actually )?got (?:a|an|my|the|us|tickets|reservations?|two
    ...|to (?:pick|take|drop|go|be|fly))\b
    i'm (?:having|going|meeting|seeing|flying|getting|doing|taking|hosting|attending|signed up
    ...|booked (?:on|for|in)|speaking|presenting|picking|dropping|visiting|running|playing|giving
    ...|throwing|teaching|leading|scheduled|supposed to|off to|interviewing|catching|heading
    ...|volunteering|on call)\b
    i(?:'ll| will| am going to|'m going to) (?:be|have|send|book|put|add|set|schedule|make|see
    ...|meet|pick|call|go|come|drop|do|take|block|reserve|create|host|swing|stop|join|fly|leave
    ...|visit|bring|attend|run|give|ring|phone|wrap|finish|end|stop)\b
    i (?:just |finally |already |also )?(?:booked|scheduled|made|reserved|set up|signed up
    ...|registered|bought tickets|have to|need to|must|confirmed|arranged|agreed|promised
    ...|told \w+ (?:i'd|i'll|i would)|said (?:i'd|yes|i'll)|RSVP'?d|fly|leave|start|present|teach
    ...|moved|rescheduled|cancell?ed)\b
    my [\w' -]+ (?:is|starts|got|has been|leaves|lands|departs|begins|was (?:moved|pushed
    ...|rescheduled|changed)|gets in)\b
    we(?:'re| are)(?: all)? (?:having|meeting|going|doing|flying|celebrating|getting|seeing
    ...|hosting|throwing|leaving|taking|driving|scheduled|confirmed|booked|all set|set|presenting
    ...|interviewing|starting|planning|picking|on for|good for)\b
    we(?:'ve| have)(?: got)? (?:a|an|the|our|that|another|dinner|lunch|tickets|reservations?)\b
    we(?:'ve| have)(?: got)? [\w:'-]+(?: [\w:'-]+)? (?:at|on|tomorrow|tonight|today|this|next
    ...|\w+day)\b
    we(?:'ll| will) (?:meet|be|have|do|go|see|start|leave|pick|host|grab|get|need)\b
    don't forget\b
    (?:i'm|we're|you're) (?:down|booked in|in) for\b
    there(?:'s| is| will be) (?:a|an|the|that|also|one)\b
    (?:it|that|this|which)(?:'s| is|'ll be| will be)(?: now)? (?:at|on|scheduled|set|happening
    ...|from)\b
    it(?:'s| is)(?: now)? (?:the \d|\d|\w+day|tomorrow|tonight|next)
    (?:is|are|'s|be|was) (?:at|on|scheduled|set|happening|booked|confirmed|due)\b
    (?:starts?|starting|kicks? off|begins?|leaves?|departs?|lands|boards|opens)\b
    heads[- ]up|fyi|reminder\b
    booked (?:us|a|an|the|it|you|me|in)\b
    scheduled (?:us|a|the|it|for)\b
    signed (?:us|me|you|up)\b
    reservations? (?:at|for|is)\b
    """
)
_SHARED = phrases(
    r"""
    (?:we|we're|we'll|we've|we'd|us|our|ours|let's|everyone|everybody|together)\b
    (?:all|both) of us\b
    (?:the team|team|guys|folks|you and (?:i|me)|you all)\b
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


def moves(text: str) -> bool:
    """Whether the clause moves something; "the party is a week later" only says when it is."""
    return found(_MOVE, pattern(_LATER_IS).sub("", text)) and not found(_OTHER_ONE, text)


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


def corrects(text: str) -> bool:
    return found(_CORRECTION, text)


def proposes(text: str) -> bool:
    return found(_PROPOSAL, text)


def invites(text: str) -> bool:
    return found(_INVITATION, text)


def announces(text: str) -> bool:
    return found(_ANNOUNCEMENT, text)


def names_the_calendar(text: str) -> bool:
    """Whether the clause asks for a calendar entry ("put it on my calendar", "remind me")."""
    return found(_CALENDAR, text)


def speaks_for_all(text: str) -> bool:
    return found(_SHARED, text)


def speaks_of_self(text: str) -> bool:
    return found(r"\b(?:i|i'm|i'll|i've|i'd|me|my|mine|myself)\b", text)


def speaks_to_hearer(text: str) -> bool:
    return found(r"\b(?:you|your|you're|you'll|you've|yours)\b", text)

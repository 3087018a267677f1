"""What a clause sets out to do: propose, invite, announce, correct."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import found, phrases

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

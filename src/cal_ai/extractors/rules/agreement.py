"""Whether a clause accepts, refuses or puts off what is on the table."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import found, phrases

_STRONG = phrases(
    r"""
    sounds? (?:good|great|perfect|fine|fun|lovely|like a plan|wonderful|amazing|awesome|right|ok)
    sounds? (?:reasonable|delicious|better|doable|excellent)
    \w+ (?:totally |also |definitely |still |actually |always )?works\b(?! on)
    ^works\b
    (?:should|will|'ll|that'd) be (?:totally |perfectly )?(?:fine|good|great|perfect|ok|doable
    ...|alright)\b
    works (?:for me|great|well|perfectly|fine|better|too|on my end)
    (?:that'd|that would|that'll|that should|that|it|should|will|would
    ...|could) (?:also )?work\b(?! on)
    perfect\b
    deal\b(?! with)
    see (?:you|ya)\b
    ^meet (?:you |me |us )?(?:at|in|by|there|downstairs|outside)\b
    it's a (?:date|plan)
    i'm (?:so |totally |definitely |also )?in\b(?=\W*$|[,.!;])
    i'm (?:so |totally |definitely |also )?(?:down|game|there)\b(?! (?:the|a|an|my|for|at|on
    ...|with|to)\b)
    i'm (?:down|in|game|up) for (?:it|that)
    count me in
    i'm coming\W*$
    sold\W*$
    (?:i|we)'?ll be (?:there|in the|at the|sitting|right there)\b
    let's do (?:it|that|this)\b
    let's (?:go with|make it|say|lock|stick with)\b
    (?:i|we)'d (?:love|be happy|be glad|be delighted|like that)
    absolutely
    definitely
    for sure\b
    of course
    you got it
    will do\b
    you're on\b
    (?:i'm |we're )on it\b
    (?<!i've )(?<!we've )(?<!haven't )(?<!be )done\b(?! (?:at|by|with|my|the|it|that|this|a|for|up))
    confirmed
    agreed
    happy to\b
    i can (?:do|make|manage|swing) (?:that|it|those|this)
    (?:fine|good|ok|cool|great|perfect) (?:by|with|for) (?:me|us)
    i'm (?:good|fine|ok|cool|happy|free|open|available)\b(?! (?:until|till|with the idea))
    can do\b(?! \w)
    no (?:problem|worries|issue|objections?)
    not (?:a problem|at all)
    sure thing
    \w+'s (?:fine|good|great|perfect|ok|better|ideal|totally fine|doable|alright|best)\b
    (?:even|much|way) better
    (?:good|great|nice) (?:idea|call|plan)
    love (?:it|to)\b
    (?:is|are|would be|will be|that'd be|'d be) (?:totally |also |just |even |so |really
    ... |much )?(?:fine|good|great|perfect|ideal|lovely|wonderful|ok|awesome|better|best
    ...|amazing)\b(?! at)
    go (?:for it|ahead)
    please do\b
    why not\b
    me (?:too|neither)
    ^same\W*$
    same here
    looking forward
    can't wait
    on (?:my|the) calendar
    locked in
    you bet
    tell (?:him|her|them) (?:yes|ok|it's|that's (?:fine|ok|good)|\w+ is (?:fine|ok|good)|\d|\w+day
    ...|eight|nine|ten|eleven|noon|half|quarter)\b
    by all means
    i (?:can|could) do\b
    i accept
    i'll (?:join|take it|take that)\b
    i'll (?:come|go)(?= (?:too|along|with|then|as well|for it|there|straight|by)\b|\W*$|,)
    sign me up
    wouldn't miss it
    yes please
    ^please\W*$
    can make (?:it|that)
    (?:fits|suits) (?:me|us|well|perfectly)
    all set\b
    we're (?:on|set|good)\b
    (?:it's )?settled
    (?:i'll|let me) (?:send|confirm|put|add|book|update|block|move|reschedule|cancel|mark
    ...|pencil|reserve)\b
    i'll (?:tell|set|make|get)\b
    ^(?:sending|adding|updating|moving|booking)\b
    putting (?:it|that|this) (?:in|on|down)\b
    (?:added|updated|moved|booked|rescheduled) (?:it|that)
    pencil (?:it|me|us) in
    consider it done
    i don't mind
    makes sense
    fair enough
    (?:until|catch you|talk (?:to you )?) ?then
    it is\b[.!]*$
    got (?:it|that)\b
    noted\b|understood\b
    i'm all (?:yours|for it)
    let's\W*$
    go on(?: then)?\W*$
    (?:put|count|pencil|sign) me (?:down|in|up)\b
    you've got me\b
    (?:that|it)'ll do\b(?! (?:it|the|a|my|your))
    (?:that|this|the \w+) one,? please
    say no more
    ^the (?:first|second|third|earlier|later|former|latter)(?: one)?(?:,? please|,? then)?\W*$
    (?:i|we) can (?:live with|manage) (?:that|it|this|\d)
    (?:i'd|i'll) (?:take|go for|go with) (?:that|it|the|\d|\w+day)    """
)
_WEAK = (
    r"^\W*(?:(?:oh|ah|ha|haha|well|so|and|hey|hmm|mm|um|lol|aw|woo|hi|yay)[ ,]*)*"
    r"(?:(?:yes|yeah|yep|yup|yess+|sure|ok|okay|alright|all right|right|great|awesome|excellent"
    r"|wonderful|cool|lovely|brilliant|fantastic|nice|amazing|got it|gotcha|noted|understood|roger"
    r"|copy that|bet|fine|good|thanks|thank you|thx|sweet|super|yay|aye|ack|true|works|totally"
    r"|grand|ace|fab|smashing|sorted|aight|righto|marvellous"
    r"|exactly|correct|mm-?hm+|uh-?huh|uhuh|gr8|coolio|cheers)\b"
    r"(?!,? (?:about that|morning|afternoon|evening|night|grief|god|luck|lord|heavens|idea what))"
    r"|👍|✅|👌|🎉|🙌|💯)"
)
_HOLD = phrases(
    r"""
    let me (?:check|see|look|think|ask|confirm|get back)
    (?:i'll|i will|i'd|i) (?:have to |need to )?(?:check|see if|think about|let you know|get back)
    i'll ask\b
    (?:have|need|want|got) to (?:ask|talk to|check|look|see|think)\b
    don't count on\b
    need to check
    not (?:sure|certain)\b
    we'll see\b(?! (?:on|at|you|him|her|them|\w+day))
    depends
    we'll (?:talk|speak)(?: about (?:it|that)| then| again)?\W*$
    let's see\b(?! (?:each|him|her|them|a|the|if we)\b)
    i don't know
    idk|dunno
    i'll (?:try|see)\b(?! (?:you|him|her|them|mr|mrs|ms|the))
    might (?:be|have)
    still deciding
    hard to say
    maybe later
    tbd\b
    up in the air
    no promises
    haven't decided
    """
)
_TENTATIVE = phrases(
    r"""
    (?:maybe|might|probably|possibly|tentative(?:ly)?|perhaps|hopefully|likely)\b
    i (?:think|guess)\b
    should be able
    pencil
    try to\b
    """
)
_REFUSAL = phrases(
    r"""
    can't (?:do|make|come|join|attend|go|that|be there|this|get|meet|today|tomorrow|on|at|really
    ...|then)\b
    can't (?:tonight|tomorrow|this|then|now|sorry|i'm|afraid|unfortunately)\b
    can't (?:swing|commit|mon|tue|wed|thu|fri|sat|sun|this|do)
    can't\W*$|can't,
    can't (?:[\w']+ ){1,5}?(?:today|tomorrow|tonight|then|that day|(?:on |this |next )?\w+day
    ...|on the \d+\w*)\b
    don't think (?:i|we)(?: can|'ll| will|'m)
    (?:won't|not) be (?:able|there|around|making|joining|coming)
    won't (?:work|make it|do\b)
    (?:doesn't|don't|didn't|won't|wouldn't|not going to|isn't going to) (?:really |actually
    ... |quite )?work
    i'm (?:also |already |actually |totally |pretty )?(?:busy|booked|tied up|slammed|swamped|wiped
    ...|exhausted|away
    ...|traveling|travelling|unavailable|stuck|packed|double[- ]booked|off)\b
    i'm (?:out of town|out\b(?! (?:of|on|to))|in meetings|in (?:a|another) meeting|on (?:a
    ...|another) call)
    i am (?:busy|booked|away)
    no good\b|not good
    i'm (?:in|at|visiting) \w+ (?:on|that|all|until|this|next)\b
    (?:absolutely|definitely|of course|certainly|probably) not\b
    (?:is|are|'s|looks) (?:really |a bit |pretty |kind of |a )?(?:bad|tough|tricky|hard|rough
    ...|difficult|terrible|impossible|out\b|full|packed)
    no can do
    conflict|clash(?:es)?\b
    i'd (?:rather|better) not\b
    (?:i'll|going to|need to|have to) pass\b|hard pass|pass on\b
    no thank(?:s| you)
    count me out
    (?:i'm )?afraid not\b
    (?:told|said)(?: \w+)? no\b
    (?:as|that's|it's|much|still|is) a no\b
    too (?:early|late|tight|soon|far|short)\b
    not (?:free|available|possible|able|ideal|great|going to (?:make|happen))
    isn't (?:good|great|possible|ideal|free)
    unavailable
    (?:have to |must |need to |will |i'll )decline
    i'm not (?!doing (?!it|that|this|anything)
    ...|wearing|saying|asking|joking|kidding|complaining|telling|paying|buying|putting|rising
    ...|looking|carrying)(?:\w+ing|free|available|interested|up for)\b
    i wish\b
    i'm (?:on call|on duty|on shift|on nights|working)\b(?! (?:from|at) home)
    \w+day,? i(?:'m| am) (?:at|in|with|on|out|off|seeing|visiting)\b
    have (?:a|another|an|the|my) (?:[\w:]+ ){0,3}(?:then\b|conflict|at that time)
    (?:have|got|doing|'ve) something (?:on\b(?!.*\d)|then|else|already)
    already (?:have|booked|got|committed|promised)
    (?:have|got) to (?:work(?! from)|cry off|pull out|drop out|back out|pass|bail|bow out
    ...|let you down)\b
    fully booked
    double-?booked
    rain ?check
    i'm out\W*$
    (?:got to|have to|going to) skip
    sit this one out
    not (?:really )?(?:into|my thing)
    without me\b
    (?:that's|it's|that is) an? (?:\w+ )?no\b
    we're not (?:doing|having) (?:that|this|it)\b
    i'm (?:banned|not (?:allowed|invited))\b
    """
)
_NO = (
    r"^\W*(?:(?:ah|well|um|hmm|sorry|aw|argh|ugh|shoot|damn|so|\w+,|oh(?!,? no\b))[ ,]*)*"
    r"(?:nope|nah|negative|unfortunately|no\b(?=\W*$|\W*[,.!]"
    r"| (?:i|i'm|i'll|we|it|that|sorry|can't|thanks|not|he|she|they|you|sir|chance|dice)\b))"
    r"(?!,? (?:wait|actually|make|i mean|it's|let's|that's|sorry|\d))"
)
_NOT_REFUSING = (
    r"\bcan't (?:we|you|i)\b.*\?|\bwhy (?:can't|not|don't)|\bdon't mind\b|\bno (?:problem|worries"
    r"|conflict)"
    r"|\bnot (?:too|a problem|an issue|at all)|\bcan't (?:wait|complain)|\bif (?:that|it)"
    r" (?:doesn't|does not)"
    r"|\b(?:would|will|is|isn't|wouldn't) .*\btoo (?:early|late|soon|tight|short)\b[^.]*\?"
)


def agrees_weakly(text: str) -> bool:
    """Whether the clause starts with a word of consent, which may be mere courtesy."""
    return found(_WEAK, text)


def agrees_strongly(text: str) -> bool:
    return found(_STRONG, text)


def refuses(text: str) -> bool:
    """Whether the clause turns down what is on the table."""
    return (found(_REFUSAL, text) or found(_NO, text)) and not found(_NOT_REFUSING, text)


def refuses_in_words(text: str) -> bool:
    """Whether more than a plain "no" turns it down."""
    return found(_REFUSAL, text)


def regrets(text: str) -> bool:
    """Whether the clause likes the idea; a "but" after it makes that a refusal."""
    likes = (
        r"\b(?:love to|like to|love that|wish|tempting|sounds (?:fun|great|lovely|amazing|good))\b"
    )
    return found(likes, text)


def holds(text: str) -> bool:
    """Whether the clause puts off the answer."""
    return found(_HOLD, text)


def hedges(text: str) -> bool:
    return found(_TENTATIVE, text)

"""What a clause does in a conversation: propose, agree, refuse, move, cancel, announce, or nothing."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import found

_OPENING = (
    r"^\W*(?:(?:oh|ah|ha|haha|well|so|and|hey|um|but|then|also|hmm|man|dude|lol|right|ok"
    r"|awesome|cool|great|thanks|thx|\w+,) ?,? ?)*"
)

STRONG_AGREEMENT = (
    r"\b(?:sounds? (?:good|great|perfect|fine|fun|lovely|like a plan|wonderful|amazing|awesome"
    r"|right|ok|reasonable|delicious)|(?:that|this|it|which|\w+) (?:totally |also |definitely "
    r"|still |actually |should )?works?\b(?! on)"
    r"|works (?:for me|great|well|perfectly|fine|better|too|on my end)|^works\b|perfect\b"
    r"|deal\b(?! with)|see you|it's a date|i'm (?:so |totally |definitely )?(?:in|down|game"
    r"|there)\b(?! (?:the|a|my|for|at|on|with))|i'm (?:down|in|game|up) for (?:it|that)"
    r"|count me in|i'?ll be there|we'll be there|let's do (?:it|that)\b|i'd love (?:to|that|it)"
    r"|i'd be (?:happy|glad|delighted)|absolutely|definitely|for sure\b|of course|you got it|will"
    r" do|you're on|i'm on it"
    r"|(?:^|\W)done\b(?! (?:at|by|with))|confirmed|agreed|happy to\b|i can (?:do|make) (?:that|it"
    r"|those|this)|(?:fine|good|ok|okay|cool|great) (?:by|with|for|w) (?:me|us)|i'm (?:good|fine"
    r"|ok|cool|happy) with|can do\b(?! \w)"
    r"|no problem|no worries|not a problem|not at all|no issue|sure thing|that's (?:fine|good"
    r"|great|perfect|ok|better|ideal|totally fine|doable)|even better|much better|good idea|great"
    r" idea|good call|love it|love to"
    r"|(?:is|are|would be|will be|'s|that'd be|'d be) (?:totally |also |just |even |so |really "
    r"|absolutely )?(?:fine|good|great|perfect|ideal|lovely|wonderful|ok|awesome|better|best"
    r"|amazing)\b(?! at)|go for it|go ahead|please do|why not\b|me too|me neither|same here"
    r"|looking forward|can't wait|it's on my calendar|on the calendar|locked in|you bet|by all"
    r" means|i'm free|i am free|i could do|i can do|let's go with|let's make it|let's say|it"
    r" is\b[.!]*$|i accept|i'll (?:join|come|take it|go)\b|sign me up|wouldn't miss it|yes please"
    r"|can make (?:it|that)|fits|suits me|i'm open|i'm available|all set|we're (?:on|set)\b|it's"
    r" settled|settled|booked it|i'll (?:send|put|add|book|set|update|block|move|reschedule|cancel"
    r"|make)|sending (?:you )?(?:an?|the) invite|pencil (?:it|me|us) in|adding it|putting it|added"
    r"|updated|moved it|on it\b|as you (?:wish|like)|no objections?|fine then|consider it done|i"
    r" don't mind|that'd work|that would work|should work|that'll work|will work|would work\b"
    r"|could work|makes sense|fair enough|ok then|great then|until then|catch you then|talk (?:to"
    r" you )?then|talk soon|see ya)"
)
WEAK_AGREEMENT = (
    r"^\W*(?:(?:oh|ah|ha|haha|well|so|and|hey|hmm|mm|um|lol|aw|awesome|yay|woo) ?,?"
    r" ?)*(?:yes|yeah|yep|yup|yess+|sure|ok|okay|alright|all right|right|great"
    r"|awesome|excellent|wonderful|cool|lovely|brilliant|fantastic|nice|amazing|got"
    r" it|gotcha|noted|understood|roger|copy that|bet\b|fine|good|thanks|thank you"
    r"|thx|sweet|super|yay|aye|ack|understandable|true|kk|works|totally|exactly"
    r"|correct|mm-?hm+|uh-?huh|uhuh|👍|✅|👌|🎉|🙌|💯)"
)
HOLD = (
    r"\b(?:let me (?:check|see|look|think|ask|confirm|get back)|i'?(?:ll| will)? (?:have to "
    r"|need to )?(?:check|see if|think about|let you know|get back|ask \w+ (?:first|and))|need"
    r" to check|not sure|we'll see|depends|i don't know|idk|dunno|i'll try|can i (?:let you"
    r" know|get back)|might (?:be|have)|still deciding|hard to say|i'll see|maybe later|tbd|up"
    r" in the air|no promises|remind me later|haven't decided)"
)
TENTATIVE = (
    r"\b(?:maybe|might|probably|possibly|tentative(?:ly)?|i think|should be able|i guess"
    r"|perhaps|hopefully|pencil|penciled|pencilled|most likely|likely|try to)\b"
)

REFUSAL = (
    r"\b(?:can(?:'t|not) (?:do|make|come|join|attend|go|that|be there|this|get|meet|today"
    r"|tomorrow|on|at|mon|tue|wed|thu|fri|sat|sun|really|then|swing)|can't\W*$|won't (?:work"
    r"|be able|make it|be there|be around|do)|(?:doesn't|does not|don't|didn't|won't"
    r"|wouldn't|not going to|not gonna|isn't going to) (?:really |actually |quite )?work|i'm"
    r" (?:busy|booked|tied up|slammed|swamped|away|out of town|out\b(?! (?:of|on))|traveling"
    r"|travelling|unavailable|stuck|packed|double[- ]booked|in meetings|in a meeting|on a"
    r" call|off)|i am (?:busy|booked|away)|no good|not good|no can do|conflict|clash(?:es)?"
    r"|i'd rather not|i'll pass|gonna pass|going to pass|pass on|hard pass|no thanks|no"
    r" thank you|count me out|too (?:early|late|tight|soon|far|short)|not (?:free|available"
    r"|possible|able|ideal|great|gonna|going to make)|isn't (?:good|great|possible|ideal"
    r"|free)|unavailable|have to decline|must decline|decline|i'm not (?:going|coming|free"
    r"|available|doing|interested|sure i can|up for)|have (?:a|another|an) (?:\w+"
    r" ){0,2}(?:then|conflict|at that time)|something (?:then|else|already)|already (?:have"
    r"|booked|got|committed|promised)|fully booked|rain ?check|i'm out\W*$|nothing doing"
    r"|gotta skip|have to skip|sit this one out|not really into|not my thing|without me|need"
    r" to pass|i refuse|can't,)"
)
_NO = (
    r"^\W*(?:(?:oh|ah|well|um|hmm|sorry|aw|argh|ugh|shoot|damn|\w+,) ?,? ?)*(?:no\b|nope|nah"
    r"|negative|unfortunately)(?! (?:problem|worries|wait|rush|biggie|need|big deal|prob|sweat"
    r"|doubt|kidding|way|one|idea|issue|objection|objections|matter|pressure|clue))(?!,? (?:wait"
    r"|actually|make|i mean|it's|let's|that's|sorry|4|5|worries|problem))"
)
NEGATION = (
    r"\b(?:not|never|don't|doesn't|didn't|won't|isn't|aren't|wasn't|no longer|without|can't"
    r"|shouldn't|wouldn't|nobody|no one|hardly|neither)\b"
)

CANCEL = (
    r"\b(?:cancel(?:l?ed|l?ing|s|lation)?|call(?:ed|ing)? (?:(?:it|that|this|\w+|the \w+)"
    r" )?off\b|scrap(?:ped)?\b|scratch (?!that)|delet(?:e|ed)|remov(?:e|ed)|drop(?:ped"
    r"|ping)?\b(?! (?:off|by|in\b|me|you|him|her|the kids|them))|axe|nix(?:ed)?|ditch(?:ed)?"
    r"|take (?:(?:it|that|the|my|our|\w+|[\w' ]+?) )?off (?:my|the|your|our) (?:calendar"
    r"|schedule|books)|wip(?:e|ed)|clear(?:ed)? (?:out |off )?(?:my|the|our|everything|all"
    r"|that|your)|get rid of|skip(?:ping)? (?:the|our|my|this|that|it|lunch|dinner|coffee"
    r"|\w+day)|bail(?:ing)? on|back(?:ing)? out of|forget (?:about )?(?:it|the|that|lunch"
    r"|dinner|coffee|our|my|\w+day)|never ?mind|not happening|no longer (?:happening|need"
    r"|needed|on|doing|going)|is off\b|are off\b|won't be happening|isn't happening|call the"
    r" whole thing off|free up (?:my|the)|don't need (?:the|our|that|to meet)|pull the plug)"
)
MOVE = (
    r"\b(?:(?:move|moved|moving|shift(?:ed|ing)?|bump(?:ed|ing)?|push(?:ed|ing)?|slide|slid"
    r"|switch(?:ed|ing)?|swap(?:ped)?|chang(?:e|ed|ing))\b(?! (?:in\b|out of|house|apartments?"
    r"|on\b|forward with|my mind|your mind))|reschedul\w*|postpon\w*|delay(?:ed)?\b|rebook\w*"
    r"|bring (?:[\w' ]+ )?forward|pull (?:[\w' ]+ )?(?:in|forward|up)\b|adjust\w*|extend(?:ed"
    r"|ing)?|shorten|lengthen|cut (?:[\w' ]+ )?(?:short|down|to)|instead(?! of (?:the|a|that"
    r"|going))|rather than|earlier\b(?! (?:today|this))|make (?:it|the \w+|our \w+) (?:longer"
    r"|shorter|earlier|later)|start(?:s|ing)? (?:earlier|later)|relocat\w*|different (?:time"
    r"|day)|another (?:time|day)|new time|is now|are now|now (?:at|on|in)|turn (?:[\w' ]+"
    r" )?into|update the)"
)
CORRECTION = (
    r"\b(?:actually|wait|i mean|i meant|correction|make (?:it|that)|scratch that|instead"
    r"|on second thought|rather|change of plans?|my (?:bad|mistake)|oops|whoops|sorry,?"
    r" (?:i|make|it|not)|better yet|hold on|strike that|typo|misspoke|let's (?:make|do"
    r"|say|go with))\b"
)
PROPOSAL = (
    r"\b(?:how about|how'?s|what about|let's|shall we|should we|should i|can we|could we"
    r"|can i|could i|may i|can you|could you|would you|will you|do you want|want to|are you"
    r" (?:free|available|around|up for|good|ok|able|in town)|you (?:free|available|around"
    r"|up for|in\b|guys free|all free|still on|still good)|up for|interested in|maybe we|we"
    r" could|we should|why don't (?:we|you|i)|what if we|does [\w: ']+ (?:work|suit|sound)"
    r"|would [\w: ']+ (?:work|suit|be (?:ok|good|better|possible))|(?:do|does) (?:you"
    r"|everyone|anyone|anybody) have (?:time|any)|have time|got time|is [\w: ']+ (?:ok|good"
    r"|free|possible|too|better)|are [\w: ']+ (?:ok|good|free) |thinking|i'd like|i would"
    r" like|was (?:hoping|wondering)|fancy|join (?:me|us)|care to|any chance|is it possible"
    r"|need to (?:meet|schedule|find|set|talk|sync|catch|get|book|plan|do)|suggest|propose"
    r"|would love to|love to|tell you what|how does|when (?:can|are|works)|what time|which"
    r" day|let me know|works better|better for me|prefer|option|we can|i can|i could|i'm"
    r" free|i am free|i'm available|i'm open|free (?:on|at|after|before|from|all)|available"
    r" (?:on|at|after|before|from)|open (?:on|at|after|before|from)|anyone (?:up|want|free)"
    r"|who'?s (?:up|in|free)|we need|we have to|is everyone|everyone (?:free|available|ok"
    r"|good)|need you|i need|wanted to|you and (?:i|me))"
)
INVITATION = (
    r"\b(?:(?:want|like) to (?:come|join|go|tag along|be there)|join (?:me|us)|you"
    r" (?:should|could|can) (?:come|join)|you(?:'re| are)? (?:coming|invited|welcome to)"
    r"|can you (?:make it|come|join|be there|attend)|come (?:along|with|over|by)|will you"
    r" (?:come|be there|join)|you in\b|are you (?:in|coming|going)|interested\?|care to"
    r" join|why don't you (?:come|join)|hope you can (?:make|come)|need you there)"
)
CALENDAR = (
    r"\b(?:remind me|(?:put|add|stick|throw|pop|get|pencil|note|mark|log"
    r"|enter)\b[^.?!]*\b(?:calendar|schedule|diary|agenda|books|down|in)\b|block (?:off"
    r"|out)?|mark (?:your|my) calendar|save the date|schedule (?:a|an|the|my|me|us|our|it"
    r"|that)\b|set (?:up|a reminder)|book (?:a|an|the|me|us|my|it|that)\b|create (?:a|an)\b"
    r"|pencil in|add (?:a|an|the|my)\b|set a\b)"
)
ANNOUNCEMENT = (
    r"\b(?:i(?:'ve| have)(?: got)? (?:a|an|my|the|to be|to (?:go|pick|take|drop|fly|leave|meet"
    r"|attend|present|see)|another|two|three|\w+ing\b|\w+ (?:at|on)\b)|i got (?:a|an|my|the|us"
    r"|tickets|reservations?|two|to (?:pick|take|drop|go|be|fly))|i'm (?:having|going|meeting"
    r"|seeing|flying|getting|doing|taking|hosting|attending|signed up|booked (?:on|for|in)"
    r"|speaking|presenting|picking|dropping|visiting|running|playing|giving|throwing|teaching"
    r"|leading|scheduled|supposed to|off to|interviewing|catching|heading)"
    r"|i(?:'ll| will| am going to|'m going to) (?:be|have|send|book|put|add|set|schedule|make|see"
    r"|meet|pick|call|go|come|drop|do|take|block|reserve|create|host|swing|stop|join|fly|leave"
    r"|visit|bring|attend|run|give)|i (?:just )?(?:booked|scheduled|made|reserved|set up|signed up"
    r"|registered|bought tickets|have to|need to|must|should|confirmed|arranged|agreed|promised"
    r"|RSVP'?d|fly|leave|start|present|teach)|my [\w' ]+ (?:is|starts|got|has been|was) (?:at|on"
    r"|scheduled|set|moved|booked|\w+day|tomorrow|tonight|today)|my (?:appointment|flight"
    r"|interview)"
    r"|we(?:'re| are) (?:having|meeting|going|doing|flying|celebrating|getting|seeing|hosting"
    r"|throwing|leaving|taking|driving|scheduled|confirmed|booked|all set|set|presenting"
    r"|interviewing|starting|planning|picking)|we(?:'ve| have)(?: got)? (?:a|an|the|our|that"
    r"|dinner|lunch|tickets|reservations?|\w+ (?:at|on)\b)|we(?:'ll| will) (?:meet|be|have|do|go"
    r"|see|start|leave|pick|host|grab|get|need)|don't forget|there(?:'s| is| will be) (?:a|an|the"
    r"|that)|(?:it|that|this)(?:'s| is|'ll be| will be) (?:at|on|scheduled|set|happening|from)"
    r"|(?:is|are|'s|be|was) (?:at|on|scheduled|set|happening|booked|confirmed|due)\b|starts? at"
    r"|kicks? off|starting at|heads[- ]up|fyi|reminder|booked (?:us|a|the|it|you|me)|scheduled"
    r" (?:us|a|the|it|for)|signed (?:us|me|you) up|reservations? (?:at|for|is)|make (?:sure|it))"
)
JOINT = (
    r"\b(?:we|we're|we'll|we've|us|our|ours|let's|together|everyone|everybody|you|your|you're"
    r"|you'll|all|team|guys|both)\b"
)
SHARED = (
    r"\b(?:we|we're|we'll|we've|we'd|us|our|let's|everyone|everybody|all of us|both of us|the"
    r" team|you and i|you and me)\b"
)
OWN = r"\b(?:i|i'm|i'll|i've|i'd|me|my|mine|myself)\b"

HYPOTHETICAL = (
    r"\b(?:if (?!you(?:'re| are| can| want| like| don't mind| have| prefer| could|r)?\b"
    r"|that|it(?:'s| is)? (?:works|ok|easier|helps|suits|better|possible)|it (?:works"
    r"|helps|suits)|possible|not\b|so\b|anything|we can|everyone|everybody|needed|we"
    r" (?:do|say|make|meet|start|went|go)|i (?:can|leave|get out))|one of these days"
    r"|\bone day\b|some ?day\b|sometime (?!around|on\b|after|before|tomorrow|next|this"
    r"|in the)|sometime\W*$|some ?time soon|eventually|in theory|hypothetical"
    r"|would(?:'ve| have)|could have|should have|should've|could've|i wish|imagine"
    r"|suppose\b|in (?:an ideal|a perfect) world|dreaming of|dream of|were to|if only"
    r"|if (?:i|we) (?:could|had|were|win|won|ever)|would be (?:nice|fun|cool|great"
    r"|amazing) (?:if|to)|at some point|when i (?:retire|win|grow up|finally)|if it"
    r" (?:rains|snows|goes|doesn't)|what would you|in another life|might as well|would"
    r" you rather|let's say hypothetically|theoretically|soon\W*$|if and when|in case"
    r"|unless|been meaning to)"
)
PAST = (
    r"\b(?:was (?!thinking|wondering|hoping|going to|planning|about to|supposed|scheduled"
    r"|originally|just|gonna|looking|at \d|on \w+day|set|also|calling|trying)|were (?!thinking"
    r"|wondering|planning|supposed|going to|to\b|hoping)|wasn't|weren't|went\b|(?:i|we|he|she"
    r"|they|you|\w+) had\b(?! to (?:cancel|move|reschedule|push|postpone)|n't)|met\b"
    r"|did\b(?!n't)|saw\b|ate\b|came\b|took\b|got back|got to (?:see|meet)|used to|ended up"
    r"|finished|attended|hosted|happened|remember (?:when|that|last|how)|back when|ago\b|didn't"
    r" (?!you)|visited|flew|drove|stayed|enjoyed|loved|watched|played|hung out|talked|spoke"
    r"|called (?!off|it off|the)|ran into|woke|slept|forgot|thought we|turned out|used to"
    r"|showed up|skipped|missed|bumped into)"
)
_PAST_ARRANGED = (
    r"\b(?:booked|scheduled|reserved|arranged|signed (?:up|us|me)|made (?:a|an|the|us"
    r" a) (?:reservation|appointment|booking)|got (?:us |me )?(?:a reservation"
    r"|tickets|an appointment)|confirmed|set up|moved|pushed|rescheduled|cancell?ed"
    r"|postponed|thought we (?:could|might|should)|agreed|changed|registered"
    r"|bought)\b"
)

SURE_SARCASM = (
    r"(?:yeah,? right\b|\bas if\b(?! (?:it|we|i))|in your dreams|pigs fly|hell freezes"
    r"|\bnot!|(?:^|\s)/s\b|🙄|🙃|just what i (?:need|always wanted)|said no one|exactly"
    r" what i (?:need|wanted)|what could (?:possibly )?go wrong|love that for (?:me|us)"
    r"|be still my|living the dream|i'd rather (?:die|eat|watch paint|chew|stick|have a"
    r" root)|over my dead body|just kidding|\bkidding\b|\bjk\b|\bjoking\b|just messing"
    r"|sarcas|when i'm dead|my wildest dreams|said nobody|eye ?roll|how about never"
    r"|never works for me|is never good|i'll pencil you in for never|twist my arm"
    r"|sure,? (?:right after|because)|right after i|because (?:that's|that is|nothing"
    r"|who doesn't|i (?:just )?love|sleep)|who needs sleep|sleep is (?:for|overrated)"
    r"|can hardly wait|hold my breath|i'll be sure to|what every\w* (?:wants|dreams)|my"
    r" (?:absolute )?favou?rite (?:thing|way|hobby)|as one does|obviously not|yeah no\b"
    r"|\blmao\b|\brofl\b|the moon\b|\bmars\b|next lifetime|30th of february|february 30"
    r"|twelfth of never|the year 30|in a million years|a thousand years|(?:with|by) the"
    r" (?:queen|king|president|pope)|a unicorn)"
)
_SOME_SARCASM = (
    r"\boh,? (?:sure|great|joy|yay|wonderful|fantastic|lovely|perfect|yeah|absolutely|good)\b",
    r"\b(?:can't|cannot) wait\b",
    r"\b(?:thrilled|delightful|sounds (?:amazing|thrilling|riveting|delightful|super)|how (?:fun"
    r"|exciting|wonderful|lovely)|(?:so|super) (?:fun|exciting|excited)|totally|clearly|obviously"
    r"|love (?:that|those|it|me|nothing)|what a (?:treat|dream|joy)|honou?red)\b",
    r"\b(?:lol|haha+|ha ha|hah)\b|😂|🤣|😏|😒",
    r"\b(?:at|for|to) (?:[1-4](?::\d\d)? ?am|midnight|3 in the morning|4 in the morning|5 ?am|the"
    r" crack of dawn)\b|\b[2-5] ?am\b",
    r"\b(?:another|yet another|eight|ten|twelve|six|five|four) (?:hour|hours|meetings?"
    r"|hour-long)\b|\b(?:all night|all weekend|on a sunday|on sunday|christmas|new year's)\b",
)

REPORTED = (
    r"\b(?:in (?:the|that|this) (?:movie|book|show|novel|episode|film|story|scene|game"
    r"|series|script|podcast|chapter|trailer)|the (?:main )?(?:character|hero|villain"
    r"|protagonist)|plot\b|was like\b|were like\b|goes like|and (?:he|she)'s like|(?:movie"
    r"|book|film|novel|show) where|script says|the line (?:is|was|goes)|quote\b|lyrics"
    r"|meme\b|the song|dreamt|dreamed|had a dream|in my dream|fiction|the poem)"
)
OTHERS = (
    r"^\W*(?:(?:oh|and|so|but|well|yeah|yes|no|apparently|actually|also|hey|because|i"
    r" (?:think|heard|hear|guess|know)(?: that)?|did you (?:hear|know)|you know|looks like"
    r"|turns out|wait|speaking of which|btw|by the way) ?,? ?)*"
)


def agrees(text: str) -> bool:
    """Whether the clause accepts what is on the table."""
    return (found(STRONG_AGREEMENT, text) or found(WEAK_AGREEMENT, text)) and not refuses(text)


def agrees_strongly(text: str) -> bool:
    return found(STRONG_AGREEMENT, text) and not refuses(text)


def refuses(text: str) -> bool:
    """Whether the clause turns down what is on the table."""
    if found(
        r"\bcan't (?:we|you|i)\b.*\?|\bwhy (?:can't|not|don't)|\bdon't mind\b|\bno (?:problem"
        r"|worries|conflict)|not (?:a )?(?:too|problem)|can't wait|can't complain",
        text,
    ):
        return False
    return found(REFUSAL, text) or found(_NO, text)


def is_sarcastic(text: str) -> bool:
    """One sure sign, or two that are harmless alone."""
    if found(SURE_SARCASM, text):
        return True
    return sum(found(sign, text) for sign in _SOME_SARCASM) >= 2


def is_past(text: str) -> bool:
    return found(PAST, text) and not found(_PAST_ARRANGED, text)

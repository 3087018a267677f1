"""Words by the part they play around the name of an activity."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import words

DEFINITE = words("the our my your this that his her their")
INDEFINITE = words("a an another some one any")
DETERMINERS = DEFINITE | INDEFINITE
WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = words(
    """
    january february march april may june july august september october november december
    """
)

# In front of an activity these say nothing that belongs into a title.
FILLERS = words(
    """
    quick short little nice big another new brief small regular usual whole proper real good great
    fun fancy early late long same next first last upcoming scheduled planned fast super very kind
    other casual formal important mandatory recurring half-hour hour-long hour minute 30-minute
    15-minute 45-minute 60-minute 20-minute 10-minute 90-minute two-hour one-hour 1-hour 2-hour
    actual damn stupid boring dreaded huge tiny lovely amazing full existing current original
    joint
    """
)

# Words that cannot be part of the name of an activity.
STOPS = words(
    """
    i you he she it we they me him us them i'm i'll i've i'd we're we'll we've you're you'll he's
    she's they're it's that's let's and or but so because if when while then than as to at in on
    by for from of with about into over after before until during is are was were be been am do
    does did done have has had having got get getting go going went come coming can could will
    would should shall may might must need want like think know see say said make makes made take
    takes took doing put add schedule scheduled book booked set move moved push pushed cancel
    canceled cancelled reschedule rescheduled postpone skip keep change grab plan planned meet
    join attend host hosting hold run thinking maybe perhaps please just also still really not no
    yes yeah yep ok sure well actually sorry hey hi hello oh great cool perfect thanks what where
    who why how which there here up out off down today tomorrow tonight yesterday re fwd per via
    forget remind confirm finish start started starts ends end too again already always never ever
    even only sometime somewhere someday rather instead works work free busy available both either
    neither all every each much many more most few lot bit let give squeeze delete remove drop
    clear block pencil swap bring due miss missed missing dread love hate enjoy forgot told asked
    heard organize organise arrange arranging prep prepare wrap finalize finalise double don't
    won't can't didn't isn't doesn't haven't wouldn't couldn't regarding happening look looks
    looking feel way gonna taking having making being scheduling booking moving cancelling joining
    hosting attending grabbing tell invite catch quickly figure check bump shift extend since
    though although whether hear anyway btw hope hopefully guess wait around upcoming using good
    bad sounds sound fine itself
    """
)

# Words that belong to the activity they stand before even without an article.
MODIFIERS = words(
    """
    team project budget design client sales product sprint marketing code status roadmap strategy
    engineering leadership hr finance legal board staff department company customer vendor
    investor partner onboarding security architecture data api launch release planning quarterly
    performance salary contract proposal hiring recruiting candidate final technical ux ui
    research content social media campaign event wedding birthday anniversary graduation farewell
    welcome holiday christmas thanksgiving family school kids parent parents group study piano
    guitar violin swim swimming soccer baseball basketball tennis yoga dance dentist dental doctor
    doctor's eye vet physical therapy therapist hair nail car tire apartment house home book movie
    game poker trivia coffee lunch dinner brunch breakfast beach camping ski business work job
    phone video zoom conference town pta volunteer charity science history math chemistry biology
    english spanish french training safety fire kickoff retro demo mentoring mentor career thesis
    lab faculty chess hockey football rugby volleyball cricket rehearsal band choir pitch
    fundraising grant audit tax mortgage bank insurance passport visa dmv q1 q2 q3 q4 tech it qa
    ops devops infra platform mobile web backend frontend growth analytics partnership community
    neighborhood hoa condo landlord tenant support annual all-hands webinar sunset steering
    committee executive exec weekly daily monthly biweekly bi-weekly postmortem incident
    cross-team stakeholder discovery user usability pricing migration inventory supplier photo
    podcast recording studio cooking pottery art painting museum garden blood flu vaccine knee
    emissions roof plumbing furniture couch follow-up followup intro introductory feedback
    editorial brand logistics compliance privacy handover handoff interview reference exit panel
    alumni donor volunteer gallery catering venue cake dress tuxedo florist band-practice quiz pub
    karaoke bbq baby shower housewarming rent lease investment pension estate pre-launch mid-year
    prep year-end end-of-quarter kick-off ideation craft street trade autumn spring summer winter
    """
)

# Before a word that is noun and verb alike ("call", "review"), these show that it is the noun.
BEFORE_NOUNS = words(
    """
    for about of get have having schedule book do grab cancel move reschedule push up got into and
    add before after join skip postpone make plan host attend miss during than doing had has
    getting cancelled canceled moved another no or shift bump at from in catch see next with delay
    delete remove drop change extend arrange confirm set scheduled booked is then
    """
)

# After such a word, these show that it is the verb.
AFTER_VERBS = words(
    """
    you me him her them us it the a an your my that this late off out up by into over there back
    home mom dad errands through around to
    """
)

# After the name of an activity these show that it only describes them ("conference room").
HEADS = words(
    """
    room rooms place docs doc document notes slides deck supplies center agenda script questions
    prep gear table menu spot break list invite link materials material report tickets clothes bag
    season budget speech cake gift present dress shop house food box bar guide guidelines team
    plan recap summary minutes recording topics feedback results calendar series theory schedule
    one time pass shoes machine maker cup mug bean beans hat outfit decorations
    """
)

NOBODY = words(
    """
    me you us it that this him her them everything no my the our your his their all a an what
    which these those some everyone everybody anyone anybody someone somebody regard respect
    """
)

"""What people put into calendars: the words for it, how long it takes, and when it usually is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cal_ai.extractors.rules.patterns import any_of


@dataclass(frozen=True, slots=True)
class Kind:
    """Defaults of a kind of activity.

    `window` is the first hour of the twelve in which an hour without am or pm is understood;
    `hour` is when it starts if only the day is known (None: no usual time).
    `shared` activities are named after the person one does them with.
    """

    name: str
    minutes: int = 60
    hour: float | None = None
    window: int = 8
    shared: bool = False
    all_day: bool = False


MEETING = Kind("meeting", 60, None, 7, shared=True)

_KINDS: tuple[tuple[Kind, str], ...] = (
    (Kind("breakfast", 60, 8, 5, shared=True), "breakfast"),
    (Kind("brunch", 90, 11, 9, shared=True), "brunch"),
    (Kind("lunch", 60, 12, 10, shared=True), "lunch; lunch date; lunch meeting"),
    (Kind("coffee", 60, 10, 7, shared=True), "coffee; coffee chat; coffee date; tea; cuppa"),
    (
        Kind("dinner", 120, 19, 12, shared=True),
        "dinner; supper; dinner date; date night; happy hour; drinks; beers; a beer; a drink;"
        " cocktails; pizza; sushi; tacos; ramen;"
        " dinner party; girls' night; guys' night; movie night; game night; poker night; trivia"
        " night; trivia; karaoke; quiz night;"
        " poker; bowling",
    ),
    (MEETING, "meeting; meet-up; meetup; get-together; hangout; catch-up; catchup; check-in;"
              " checkin; touch base; discussion; chat; working session"),
    (Kind("call", 30, None, 8, shared=True), "call; phone call; video call; zoom; zoom call;"
                                             " facetime; skype; conference call; video chat; phone"
                                             " chat; phone screen"),
    (Kind("1:1", 30, None, 8, shared=True), "1:1"),
    (Kind("sync", 30, None, 8, shared=True), "sync; sync-up; syncup; huddle"),
    (Kind("standup", 15, 9, 7), "standup; stand-up; daily; scrum"),
    (
        Kind("work", 60, None, 7),
        "review; code review; design review; retro; retrospective; demo; presentation; planning;"
        " planning session; sprint planning;"
        " kickoff; kick-off; brainstorm; brainstorming; brainstorming session; debrief;"
        " walkthrough; walk-through; all-hands; all hands;"
        " town hall; training; onboarding; webinar; pitch; handoff; hand-off; handover;"
        " postmortem; post-mortem; office hours; seminar;"
        " lecture; panel; orientation; grooming; backlog grooming; triage; read-through; dry run;"
        " run-through; performance review;"
        " board meeting; briefing; roundtable; q&a; strategy session; status update; sales call;"
        " stakeholder meeting; session;"
        " consultation; launch; release; deployment; budget meeting; photoshoot; photo shoot;"
        " screening; hackathon session; tasting; fitting",
    ),
    (Kind("interview", 60, None, 8, shared=True), "interview; job interview; informational"
                                                  " interview"),
    (Kind("workshop", 120, 9, 7), "workshop; bootcamp; masterclass"),
    (Kind("class", 60, None, 8), "class; lesson; tutoring; tutoring session; piano lesson; yoga;"
                                 " yoga class; pilates; spin class; spin; study session; study"
                                 " group; practice; rehearsal; exam; midterm; quiz; band practice;"
                                 " soccer practice; swim lesson; driving test; recital; tutorial;"
                                 " open house; parent-teacher conference; parent teacher"
                                 " conference; parent-teacher meeting; ptA meeting; school play"),
    (
        Kind("appointment", 60, None, 7),
        "appointment; dentist; dentist appointment; dental appointment; dental cleaning; doctor;"
        " doctor's appointment; doctor appointment; doctors appointment; checkup; check-up;"
        " physical; physical therapy; physio; therapy; therapy session;"
        " therapist; vet; vet appointment; haircut; massage; manicure; eye exam; cleaning; blood"
        " test; vaccination; orthodontist; oil change; car service; tire change; inspection;"
        " viewing; apartment viewing; house viewing; walkthrough of the apartment; tour; campus"
        " tour; checkup appointment; ultrasound; mri; x-ray; optometrist; dermatologist;"
        " chiropractor; pediatrician; acupuncture; nail appointment; passport appointment; dmv"
        " appointment; closing; furniture delivery; delivery; plumber; electrician; repair;"
        " installation; follow-up",
    ),
    (Kind("exercise", 60, None, 8), "gym; workout; gym session; training session; swim; tennis;"
                                    " squash; badminton; basketball; soccer; football; volleyball;"
                                    " pickleball; climbing; bouldering; golf; crossfit; dance"
                                    " class; zumba; racquetball; pickup game"),
    (Kind("early", 60, 8, 5), "run; jog; morning run; bike ride; ride; hike; walk; long run;"
                              " farmers market; farmers' market; fishing; church"),
    (
        Kind("evening", 150, 19, 11, shared=False),
        "party; birthday party; birthday dinner; birthday; concert; show; movie; movies; gig;"
        " play; opera; theater; theatre; game; match; housewarming; housewarming party; going-away"
        " party; farewell party; farewell drinks; book club; gala; premiere; ballet; comedy show;"
        " fundraiser; reception; engagement party; rehearsal dinner; potluck; bonfire; watch"
        " party; holiday party; super bowl party; board games; game day",
    ),
    (Kind("daytime", 180, 12, 8), "bbq; barbecue; picnic; cookout; wedding; baby shower; bridal"
                                  " shower; shower; graduation; ceremony; funeral; memorial;"
                                  " museum; zoo; beach day; playdate; play date; garage sale; yard"
                                  " sale; volunteering; bake sale; fair; parade; festival; brunch"
                                  " party; escape room; exhibition; art fair; christening; baptism"),
    (Kind("flight", 180, None, 6), "flight; train; red-eye"),
    (Kind("ride", 60, None, 8), "pickup; pick-up; school pickup; drop-off; dropoff; airport"
                                " pickup; airport run; carpool"),
    (Kind("date", 120, 19, 10, shared=True), "date"),
    (Kind("days", 1440, None, 8, all_day=True), "trip; vacation; conference; offsite; off-site;"
                                                " retreat; camping trip; camping; road trip; ski"
                                                " trip; day off; pto; business trip; staycation;"
                                                " hackathon; business travel"),
    (Kind("deadline", 60, 17, 8), "deadline"),
)  # fmt: skip

# Words that are activities only as nouns: "call me", "run late", "show up" are none of them.
AMBIGUOUS = frozenset(
    [
        "call",
        "run",
        "show",
        "play",
        "walk",
        "match",
        "game",
        "date",
        "class",
        "ride",
        "review",
        "planning",
        "practice",
        "training",
        "fair",
        "repair",
        "physical",
        "spin",
        "daily",
        "tour",
        "zoom",
        "session",
        "test",
        "launch",
        "release",
        "swim",
        "drinks",
        "demo",
        "pitch",
        "tea",
        "shower",
        "closing",
        "tasting",
        "fitting",
        "delivery",
        "inspection",
        "doctor",
        "movie",
        "movies",
        "cleaning",
        "conference",
        "train",
        "chat",
        "discussion",
        "physical",
        "birthday",
        "doctor",
        "screening",
        "planning",
        "spin",
        "panel",
        "viewing",
        "football",
        "basketball",
        "soccer",
        "golf",
        "tennis",
        "follow-up",
        "pizza",
        "sushi",
        "exam",
        "quiz",
        "scrum",
        "poker",
        "delivery",
        "beach",
    ]
)

# Verbs and the title that a plan made with them gets.
VERBS = (
    (r"\bmeet(?:ing)?(?: up)?\b(?! (?:my|the|a|your)\b)", "Meeting", MEETING),
    (r"\bcatch(?:ing)? up\b(?! on)", "Catch-up", MEETING),
    (r"\b(?:hang(?:ing)? out|get(?:ting)? together)\b", "Hangout", Kind("hangout", 120, None, 10, shared=True)),
    (r"\b(?:sync(?:ing)? up|sync)\b", "Sync", Kind("sync", 30, None, 8, shared=True)),
    (r"\btouch(?:ing)? base\b", "Check-in", MEETING),
    (r"\b(?:hop|jump|get) on (?:a|the) (?:quick )?(?:call|zoom|phone)\b", "Call", Kind("call", 30, None, 8, shared=True)),
    (r"\b(?:I'll|I can|I will|can you|could you|you can|will you|let me|please|should I|can I|to)"
     r" (?:call|ring|phone|facetime|dial)\b", "Call", Kind("call", 30, None, 8, shared=True)),
    (r"\b(?:talk|chat|discuss|go over|speak|connect|sit down)\b(?! (?:to (?:him|her|them)))", "Meeting", MEETING),
    (r"\b(?:work(?:ing)? out)\b", "Workout", Kind("exercise", 60, None, 8)),
    (r"\bstudy(?:ing)?(?: together)?\b", "Study session", Kind("class", 120, None, 8)),
    (r"\bplay(?:ing)? (?P<what>tennis|golf|soccer|basketball|squash|badminton|pickleball|cards"
     r"|football|volleyball)\b", "{what}", Kind("exercise", 90, None, 8)),
    (r"\b(?:fly|flying) (?:out )?to (?P<what>[A-Z]\w+(?: [A-Z]\w+)?)", "Flight to {what}", Kind("flight", 180, None, 6)),
    (r"\bgo(?:ing)? (?P<what>hiking|climbing|bowling|swimming|running|camping|skiing|fishing"
     r"|sailing|kayaking|dancing|shopping|biking|cycling|skating)\b", "{what}", Kind("outing", 120, None, 8)),
)  # fmt: skip

TITLES = {
    "dentist": "Dentist appointment",
    "dental appointment": "Dental appointment",
    "doctor": "Doctor appointment",
    "doctor's appointment": "Doctor appointment",
    "doctors appointment": "Doctor appointment",
    "vet": "Vet appointment",
    "physical": "Physical",
    "orthodontist": "Orthodontist appointment",
    "dermatologist": "Dermatologist appointment",
    "optometrist": "Optometrist appointment",
    "pediatrician": "Pediatrician appointment",
    "therapist": "Therapy",
    "a beer": "Drinks",
    "a drink": "Drinks",
    "beers": "Drinks",
    "check-up": "Checkup",
    "stand-up": "Standup",
    "facetime": "FaceTime call",
    "zoom": "Zoom call",
    "pto": "PTO",
    "bbq": "BBQ",
    "cuppa": "Coffee",
    "movies": "Movie",
    "mri": "MRI",
    "touch base": "Check-in",
    "q&a": "Q&A",
}


@cache
def kinds() -> dict[str, Kind]:
    """The kind of every activity noun."""
    return {
        noun.strip().lower(): kind
        for kind, nouns in _KINDS
        for noun in nouns.split(";")
        if noun.strip()
    }


@cache
def noun_pattern() -> str:
    """A pattern of all activity nouns, longest first, with their plurals."""
    return rf"(?<![\w-])(?P<noun>{any_of(kinds())})(?P<plural>s|es)?(?![\w-]|'s \w+'s)"

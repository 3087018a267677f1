"""What people put into calendars: the words for it, how long it takes, and when it usually is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cal_ai.extractors.reader.patterns import any_of


@dataclass(frozen=True, slots=True)
class Kind:
    """Defaults of a kind of activity.

    `hour` is when it starts if only the day is known (None: no usual time).
    """

    name: str
    minutes: int = 60
    hour: float | None = None
    all_day: bool = False


MEETING = Kind("meeting", 60, None)

CHORE = Kind("chore", 60, None)

_KINDS: tuple[tuple[Kind, str], ...] = (
    (Kind("breakfast", 60, 8), "breakfast"),
    (Kind("brunch", 90, 11), "brunch"),
    (Kind("lunch", 60, 12), "lunch, lunch date"),
    (Kind("coffee", 60, 10), "coffee, coffee chat, coffee date, tea, cuppa"),
    (
        Kind("dinner", 120, 19),
        """
        dinner, supper, dinner date, date night, happy hour, drinks, beers, a beer, a drink,
        cocktails, pizza, sushi, tacos, ramen, karaoke, poker, trivia
        """,
    ),
    (
        MEETING,
        """
        meeting, meet-up, meetup, get-together, hangout, catch-up, catchup, check-in, checkin,
        touch base, discussion, chat, working session
        """,
    ),
    (
        Kind("call", 30, None),
        """
        call, phone call, video call, zoom, zoom call, facetime, skype, conference call,
        video chat, phone chat, phone screen
        """,
    ),
    (Kind("1:1", 30, None), "1:1"),
    (Kind("sync", 30, None), "sync, sync-up, syncup, huddle"),
    (Kind("standup", 15, 9), "standup, stand-up, daily, scrum"),
    (
        Kind("work", 60, None),
        """
        review, retro, retrospective, demo, presentation, planning, planning session, kickoff,
        kick-off, brainstorm, brainstorming, brainstorming session, debrief, walkthrough,
        walk-through, all-hands, all hands, town hall, training, onboarding, webinar, pitch,
        handoff, hand-off, handover, postmortem, post-mortem, office hours, seminar, lecture,
        panel, orientation, grooming, triage, talk, assessment, evaluation, drill,
        fire drill, assembly, readout, sign-off, signing, stocktake, induction, appraisal,
        refresher, critique, read-through, dry run, run-through, briefing,
        roundtable, q&a, strategy session, session, consultation, launch, deployment, photoshoot,
        photo shoot, screening, tasting, fitting, testing, standoff, hearing, audit
        """,
    ),
    (Kind("interview", 60, None), "interview"),
    (Kind("workshop", 120, 9), "workshop, bootcamp, masterclass"),
    (
        Kind("class", 60, None),
        """
        class, lesson, tutoring, tutoring session, yoga, yoga class, pilates, spin class, spin,
        study session, study group, practice, rehearsal, exam, midterm, quiz, driving test,
        recital, tutorial, open house, parent-teacher conference, parent teacher conference,
        parent-teacher meeting, school play, parents' evening, parents evening, course,
        test, swimming lesson, piano lesson
        """,
    ),
    (
        Kind("appointment", 60, None),
        """
        appointment, dentist, dental cleaning, doctor, doctor's, checkup, check-up, physical,
        physical therapy, physio, therapy, therapy session, therapist, vet, haircut, massage,
        manicure, eye exam, cleaning, blood test, vaccination, orthodontist, oil change,
        car service, hair salon, nail salon,
        tire change, inspection, viewing, tour, ultrasound, mri, x-ray, optometrist,
        dermatologist, chiropractor, pediatrician, acupuncture, closing, delivery, plumber,
        electrician, repair, installation, follow-up, barber, hairdresser, technician,
        contractor, handyman, eye test, hearing test, boiler service, boiler check, jab,
        vaccine, scan, measurement, hygienist, optician, physiotherapist, mechanic
        """,
    ),
    (
        Kind("exercise", 60, None),
        """
        gym, workout, gym session, training session, swim, tennis, squash, badminton, basketball,
        soccer, football, volleyball, pickleball, climbing, bouldering, golf, crossfit,
        dance class, zumba, racquetball, pickup game
        """,
    ),
    (
        Kind("early", 60, 8),
        "run, jog, bike ride, ride, hike, walk, farmers market, farmers' market, fishing",
    ),
    (
        Kind("evening", 150, 19),
        """
        party, birthday, concert, show, movie, movies, film, showing, gig, play, opera, theater,
        theatre, housewarming, book club, gala, premiere, ballet, fundraiser, reception, potluck,
        bonfire, watch party, board games, game day, night out, bowling, movie night, game night,
        poker night, trivia night, quiz night, pub quiz, girls' night, guys' night, open mic,
        hen night, hen do, hen party, stag night, stag do, games night, family night, cinema
        """,
    ),
    (Kind("match", 120, 15), "game, match, scrimmage, tournament"),
    (
        Kind("daytime", 180, 12),
        """
        bbq, barbecue, picnic, cookout, wedding, baby shower, bridal shower, graduation,
        ceremony, funeral, memorial, museum, zoo, beach day, playdate, play date, garage sale,
        yard sale, volunteering, bake sale, fair, parade, festival, escape room, exhibition,
        christening, baptism, moving day, work day, workday, sleepover, braai, seed swap, regatta
        """,
    ),
    (Kind("flight", 180, None), "flight, train, red-eye"),
    (CHORE, "pickup, pick-up, drop-off, dropoff, airport run, carpool"),
    (Kind("date", 120, 19), "date"),
    (
        Kind("days", 1440, None, all_day=True),
        """
        trip, vacation, conference, offsite, off-site, retreat, camping trip, camping, road trip,
        day off, pto, staycation, hackathon
        """,
    ),
    (Kind("deadline", 60, 17), "deadline"),
)

# Kinds that are named after the person one does them with.
SHARED = (
    "breakfast",
    "brunch",
    "lunch",
    "coffee",
    "dinner",
    "meeting",
    "call",
    "1:1",
    "sync",
    "date",
)


@cache
def kinds() -> dict[str, Kind]:
    """The kind of every activity noun."""
    return {noun.strip(): kind for kind, nouns in _KINDS for noun in nouns.split(",")}


@cache
def noun_pattern() -> str:
    """A pattern of all activity nouns, longest first, with their plurals."""
    return rf"(?<![\w-])(?P<noun>{any_of(kinds())})(?:s|es)?(?![\w-]|'s \w+'s)"

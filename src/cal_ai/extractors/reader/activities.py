"""Activities that people put into calendars: their nouns, usual length and usual hour."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cal_ai.extractors.reader.patterns import any_of


@dataclass(frozen=True, slots=True)
class Kind:
    """The usual length of an activity, and the hour at which it starts if only the day is known.

    `hour` is None if there is no usual time.
    """

    minutes: int = 60
    hour: int | None = None
    all_day: bool = False


# Minutes, the usual hour if there is one, other properties; then the nouns.
_KINDS = """
    30 = call, phone call, video call, zoom, facetime, skype, video chat, phone chat,
        phone screen, 1:1, sync, sync-up, syncup, huddle;
    60 = meeting, meet-up, meetup, get-together, hangout, catch-up, catchup, check-in,
        checkin, touch base, discussion, chat, working session;
    60 8 = breakfast;
    60 10 = coffee, coffee chat, coffee date, tea, cuppa;
    60 12 = lunch, lunch date;
    90 11 = brunch;
    120 19 = dinner, supper, date night, happy hour, drinks, beers, a beer, a drink,
        cocktails, pizza, sushi, tacos, ramen, karaoke, poker, trivia, date;
    15 9 = standup, stand-up, daily, scrum;
    60 = review, retro, retrospective, demo, presentation, planning, kickoff, kick-off, brainstorm,
        brainstorming, debrief, walkthrough, walk-through, all-hands, all hands, town hall,
        training, onboarding, webinar, pitch, handoff, hand-off, handover, postmortem, post-mortem,
        office hours, seminar, lecture, panel, orientation, grooming, triage, talk, assessment,
        evaluation, drill, fire drill, assembly, readout, sign-off, signing, stocktake, induction,
        appraisal, refresher, critique, read-through, dry run, run-through, briefing, roundtable,
        q&a, strategy session, session, consultation, launch, deployment, photoshoot, photo shoot,
        screening, tasting, fitting, testing, standoff, hearing, audit, interview, class, lesson,
        tutoring, yoga, pilates, spin, study session, study group, practice, rehearsal, exam,
        midterm, quiz, driving test, recital, tutorial, open house, parent-teacher conference,
        parent teacher conference, parent-teacher meeting, school play, parents' evening,
        parents evening, course, test, swimming lesson, piano lesson, appointment, dentist,
        dental cleaning, doctor, doctor's, checkup, check-up, physical, physio, therapy, therapist,
        vet, haircut, massage, manicure, eye exam, cleaning, blood test, vaccination, orthodontist,
        oil change, car service, hair salon, nail salon, tire change, inspection, viewing, tour,
        ultrasound, mri, x-ray, optometrist, dermatologist, chiropractor, pediatrician,
        acupuncture, closing, delivery, plumber, electrician, repair, installation, follow-up,
        barber, hairdresser, technician, contractor, handyman, eye test, boiler service,
        boiler check, jab, vaccine, scan, measurement, hygienist, optician, physiotherapist,
        mechanic, gym, workout, swim, tennis, squash, badminton, basketball, soccer, football,
        volleyball, pickleball, climbing, bouldering, golf, crossfit, dance class, zumba,
        racquetball, pickup game, pickup, pick-up, drop-off, dropoff, airport run, carpool;
    60 8 = run, jog, bike ride, ride, hike, walk, farmers market, farmers' market, fishing;
    60 17 = deadline;
    120 9 = workshop, bootcamp, masterclass;
    120 15 = game, match, scrimmage, tournament;
    150 19 = party, birthday, concert, show, movie, movies, film, showing, gig, play, opera,
        theater, theatre, housewarming, book club, gala, premiere, ballet, fundraiser, reception,
        potluck, bonfire, watch party, board games, game day, night out, bowling, movie night,
        game night, poker night, trivia night, quiz night, pub quiz, girls' night, guys' night,
        open mic, hen night, hen do, hen party, stag night, stag do, games night, family night,
        cinema;
    180 = flight, train, red-eye;
    180 12 = bbq, barbecue, picnic, cookout, wedding, baby shower, bridal shower, graduation,
        ceremony, funeral, memorial, museum, zoo, beach day, playdate, play date, garage sale,
        yard sale, volunteering, bake sale, fair, parade, festival, escape room, exhibition,
        christening, baptism, moving day, work day, workday, sleepover, braai, seed swap, regatta;
    1440 all-day = trip, vacation, conference, offsite, off-site, retreat, camping, road trip,
        day off, pto, staycation, hackathon
"""


@cache
def kinds() -> dict[str, Kind]:
    rows = (row.partition(" = ") for row in _KINDS.split(";"))
    return {noun.strip(): _kind(usual) for usual, _, nouns in rows for noun in nouns.split(",")}


def _kind(usual: str) -> Kind:
    minutes, *hour = (int(word) for word in usual.split() if word.isdecimal())
    return Kind(minutes, hour[0] if hour else None, "all-day" in usual)


@cache
def noun_pattern() -> str:
    """Return a pattern of all activity nouns, longest first, with their plurals."""
    return rf"(?<![\w-])(?P<noun>{any_of(kinds())})(?:s|es)?(?![\w-]|'s \w+'s)"

"""What an event is called, and who takes part."""

from __future__ import annotations

from cal_ai.extractors.rules.activities import MEETING
from cal_ai.extractors.rules.patterns import cased, found, sentence_case
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.setting import Setting

_OF_MANY = r"\b(?:team|all|board|company|family|staff|group|committee|class)\b"
_VISITS = (
    (r"\b(?:dr|doctor|physician|gp|nurse)\b", "Doctor appointment"),
    (r"\bdent", "Dentist appointment"),
    (r"\bvet", "Vet appointment"),
    (r"\b(?:salon|barber|hair)", "Haircut"),
    (r"\b(?:garage|mechanic)", "Car service"),
    (r"\b(?:clinic|practice|hospital|reception|physio)", "Appointment"),
)


def title_of(plan: Plan, setting: Setting) -> str:
    """A short title: what it is, and with whom if it is a matter of two."""
    if plan.target is not None:
        return plan.target.summary
    activity = plan.activity
    partners = _partners(plan, setting)
    if activity is None:
        visit = next(
            (title for source, title in _VISITS if found(source, " ".join(partners))), None
        )
        if visit is not None:
            return visit
    online = plan.place in ("Zoom", "Teams", "Google meet", "Skype", "Phone", "Webex", "Facetime")
    zoned = plan.when.clock is not None and bool(plan.when.clock.zone)
    unnamed = "Call" if online or zoned else "Meeting"
    title = _on_topic(activity.title if activity is not None else unnamed, plan.topic)
    shared = activity.kind.shared if activity is not None else True
    present = {name.lower().split(" ")[0] for name in setting.speakers | {setting.owner}}
    outsiders = [name for name in _named(plan) if name.lower() not in present]
    if outsiders:
        return f"{title} with {' and '.join(outsiders[:2])}"
    own_name = cased(r"\b[A-Z]").search(title[1:]) is not None
    if shared and len(partners) == 1 and not found(_OF_MANY, title) and not own_name:
        return f"{title} with {_called(partners[0])}"
    return title


def _on_topic(title: str, topic: str) -> str:
    """`title` together with what the talk was about ("Boiler check meeting")."""
    if not topic or topic in title.lower():
        return title
    return f"{sentence_case(topic)} {title[:1].lower()}{title[1:]}"


def attendees_of(plan: Plan, setting: Setting) -> tuple[str, ...]:
    """Those who take part besides the owner: the speakers who agreed, and those named."""
    shared = plan.activity.kind.shared if plan.activity is not None else MEETING.shared
    backers = sorted((plan.willing | plan.addressees) - {setting.owner} - plan.refused)
    alone = plan.told and not shared
    names = [*(() if alone else backers), *_named(plan)]
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(name.lower().split(" ")[0], name)
    return tuple(known.values())


def _named(plan: Plan) -> list[str]:
    return [*(plan.activity.people if plan.activity is not None else ()), *plan.people]


def _called(speaker: str) -> str:
    """A speaker by first name, unless the first word is no name ("Dr Patel", "Coach Kim")."""
    first = speaker.split(" ")[0]
    titled = first.lower().rstrip(".") in ("dr", "mr", "mrs", "ms", "prof", "coach", "the")
    return speaker if titled else first


def _partners(plan: Plan, setting: Setting) -> list[str]:
    """The other speakers whom the plan involves."""
    others = sorted(setting.others)
    if len(others) <= 1:
        return others
    named = {name.lower() for name in _named(plan)}
    called = [name for name in others if name.lower().split(" ")[0] in named]
    return called or sorted((plan.willing | plan.addressees) - {setting.owner})

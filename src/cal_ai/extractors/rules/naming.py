"""What an event is called, and who takes part."""

from __future__ import annotations

from cal_ai.extractors.rules.patterns import cased, found, pattern, sentence_case, words
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.setting import Setting

_TITLES = words(
    """
    dr mr mrs ms prof coach the herr frau señor señora monsieur madame sir miss uncle aunt auntie
    """
)
_OF_MANY = r"\b(?:team|all|board|company|family|staff|group|committee|class)\b"
# Who offers an appointment, and what one calls it.
_VISITS = (
    (r"\b(?:dentist|dental)", "Dentist appointment"),
    (r"\bvet(?:s|'s|erinar\w*)?\b", "Vet appointment"),
    (r"\bphysio", "Physio appointment"),
    (r"\b(?:optician|eye ?wear|optic)", "Optician appointment"),
    (r"\b(?:salon|barber|hair)", "Haircut"),
    (r"\b(?:garage|mechanic|motors|tyres)", "Car service"),
    (r"\bplumb", "Plumber"),
    (r"\belectric(?:ian|s)", "Electrician"),
    (r"\b(?:carpent|joiner)", "Carpenter"),
    (r"\b(?:estate|lettings|letting agent|realtor|agent)\b", "Viewing"),
    (r"\b(?:dr|doctor|physician|gp|nurse|surgery)\b", "Doctor appointment"),
    (r"\b(?:clinic|practice|hospital|receptionist|assistant|front desk)", "Appointment"),
)
_ANY_VISIT = r"^(?:appointment|follow-up|visit|slot)$"
_SERVICE = r"^(?:cleaning|checkup|check-up|treatment)$"


def title_of(plan: Plan, setting: Setting) -> str:
    """A short title: what it is, and with whom if it is a matter of two."""
    if plan.target is not None:
        return plan.target.summary
    activity = plan.activity
    partners = _partners(plan, setting)
    visit = visit_with(partners, setting)
    if visit and (activity is None or activity.weak or found(_ANY_VISIT, activity.title)):
        return visit
    named = visit not in ("", "Appointment", "Doctor appointment")
    if named and activity is not None and found(_SERVICE, activity.title):
        return f"{visit.split(' ')[0]} {activity.title[:1].lower()}{activity.title[1:]}"
    online = plan.place in ("Zoom", "Teams", "Google meet", "Skype", "Phone", "Webex", "Facetime")
    zoned = plan.remote or (plan.when.clock is not None and bool(plan.when.clock.zone))
    unnamed = "Call" if online or zoned else "Meeting"
    title = _on_topic(activity.title if activity is not None else unnamed, plan.topic)
    present = {name.lower().split(" ")[0] for name in setting.speakers | {setting.owner}}
    outsiders = [name for name in _named(plan) if name.lower() not in present]
    if outsiders:
        return f"{title} with {' and '.join(outsiders[:2])}"
    own_name = cased(r"\b[A-Z]").search(title[1:]) is not None or _is_with_another(plan)
    if plan.kind.shared and len(partners) == 1 and not found(_OF_MANY, title) and not own_name:
        return f"{title} with {_called(partners[0])}"
    return title


def _is_with_another(plan: Plan) -> bool:
    """Whether it is with somebody who was only spoken of ("a coffee with her")."""
    noun = plan.activity.noun.split(" ")[-1] if plan.activity is not None else ""
    company = pattern(r"([\w-]+) with (?:him|her|them)\b")
    said = (match[1].lower() for line in plan.lines for match in company.finditer(line.words))
    return noun in said


def is_visit(plan: Plan, setting: Setting) -> bool:
    """Whether the plan is made with somebody who offers appointments."""
    return bool(visit_with(_partners(plan, setting), setting))


def visit_with(partners: list[str], setting: Setting) -> str:
    """What an appointment with those who answer the phone is called, "" if they offer none."""
    said = " ".join([*partners, *(_introduction(name, setting) for name in partners)])
    return next((title for source, title in _VISITS if found(source, said)), "")


def _introduction(name: str, setting: Setting) -> str:
    """The first sentence of a speaker, if it says where one has called."""
    first = setting.greetings.get(name, "").split("?")[0]
    greets = (
        r"\b(?:hello|hi|good (?:morning|afternoon|evening|day)|this is|speaking|it's|here|from)\b"
    )
    return first[:80] if found(greets, first[:80]) else ""


def _on_topic(title: str, topic: str) -> str:
    """`title` together with what the talk was about ("Boiler check meeting")."""
    if not topic or topic in title.lower():
        return title
    return f"{sentence_case(topic)} {title[:1].lower()}{title[1:]}"


def attendees_of(plan: Plan, setting: Setting) -> tuple[str, ...]:
    """Those who take part besides the owner: the speakers who agreed, and those named."""
    backers = sorted((plan.willing | plan.addressees) - {setting.owner} - plan.refused)
    alone = plan.told and not plan.kind.shared
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
    titled = first.lower().rstrip(".") in _TITLES
    return speaker if titled else first


def _partners(plan: Plan, setting: Setting) -> list[str]:
    """The other speakers whom the plan involves."""
    others = sorted(setting.others)
    if len(others) <= 1:
        return others
    named = {name.lower() for name in _named(plan)}
    called = [name for name in others if name.lower().split(" ")[0] in named]
    return called or sorted((plan.willing | plan.addressees) - {setting.owner})

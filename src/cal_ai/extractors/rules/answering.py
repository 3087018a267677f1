"""Clauses that answer: agreeing, refusing, putting off, inviting, laughing off."""

from __future__ import annotations

from cal_ai.events import ContextEvent
from cal_ai.extractors.rules import remarks
from cal_ai.extractors.rules.choosing import same_plan
from cal_ai.extractors.rules.memory import FAR, NEAR
from cal_ai.extractors.rules.patterns import found
from cal_ai.extractors.rules.plans import Plan
from cal_ai.extractors.rules.reading import Reading
from cal_ai.extractors.rules.scene import Scene

# How many utterances a joke may take.
_JEST = 6


def laugh_off(scene: Scene) -> None:
    """Drops what was just said in jest."""
    plan = scene.near(3)
    if plan is None or plan.target is not None:
        return
    if plan.is_open and plan.settled is not None:
        plan.withdraw()
    elif plan.is_open or plan.touched >= scene.turn - 2:
        plan.drop()


def take_back_jests(scene: Scene) -> None:
    """Drops what was said just before the talk turned earnest."""
    for plan in scene.plans:
        if scene.age(plan) <= _JEST:
            plan.drop()
    scene.focus = None


def refuse(scene: Scene, reading: Reading) -> None:
    """Turns down what is on the table, or names the event of the calendar that cannot be."""
    if _declines(scene, reading) or _confirms(scene, reading):
        return
    if _sees_no_hindrance(scene, reading):
        agree(scene, reading)
        return
    event, open_plan = _event_refused(scene, reading), scene.near(FAR)
    if event is not None and not (open_plan is not None and open_plan.is_open):
        shaken = scene.plan_of(event)
        shaken.refused.add(reading.speaker)
        shaken.given_up = scene.is_by_owner(reading) and found(_STAYING_AWAY, reading.text)
        scene.attend(shaken, reading)
        return
    named = scene.plan_of(event) if event is not None else scene.plan_named(reading)
    plan = named or open_plan
    plan = _backed_out_of(scene, reading) or plan
    if plan is None or plan.foreign or _is_beside_the_point(scene, plan, reading):
        return
    if plan.is_settled and scene.age(plan) > 2 and event is None:
        return
    _turn_down(scene, plan, reading)


_STAYING_AWAY = r"\b(?:won't|can't|not going to) (?:make it|come|be there|be coming|be at)\b"


def stay_away(scene: Scene) -> None:
    """Calls off what the owner cannot come to, if nothing else was said about it."""
    for plan in scene.plans:
        if plan.given_up and plan.action is None and plan.settled is None:
            plan.offer(scene.setting.owner, "delete", asked=False, told=True)
            plan.settle(sure=False)


def _confirms(scene: Scene, reading: Reading) -> bool:
    """Whether a "no" agrees to a question that expects it ("So no drill tomorrow?" "No.")."""
    negative = found(r"^\W*(?:so|then|and)?,? ?no(?:t| \w+)\b", scene.question.text)
    asked = negative and scene.is_asked(reading) and reading.refuses_barely
    plans = [p for p in scene.plans if p.action == "delete" and p.touched == scene.question.turn]
    if not asked or len(plans) != 1:
        return False
    plans[0].back(reading.speaker)
    scene.attend(plans[0], reading)
    scene.conclude(plans[0], sure=True)
    return True


def _sees_no_hindrance(scene: Scene, reading: Reading) -> bool:
    """Whether a "no" says that nothing is in the way ("Is that too early?" "No.")."""
    hindrance = r"\btoo (?:early|late|soon|tight|short|far)\b|\bmind\b|\bproblem\b|\bclash"
    asked = scene.is_asked(reading) and reading.refuses_barely
    return asked and found(hindrance, scene.question.text)


def _declines(scene: Scene, reading: Reading) -> bool:
    """Whether the owner will not come to an event ("Are you coming?" "I can't.")."""
    last = scene.last_mention
    if not last.asked or last.event is None or scene.turn - last.turn != 1:
        return False
    if not scene.is_by_owner(reading) or reading.moments.names_a_time:
        return False
    if scene.event_named(reading, reading.moments) is not None:
        return False
    plan = scene.plan_of(last.event)
    plan.offer(reading.speaker, "delete", asked=False, told=True)
    scene.attend(plan, reading)
    plan.settle(sure=False)
    return True


def _event_refused(scene: Scene, reading: Reading) -> ContextEvent | None:
    """The event of the calendar that cannot be, not one that only stands in the way."""
    event, open_plan = scene.event_named(reading, reading.moments), scene.near(FAR)
    if event is None:
        backs_out = not scene.is_by_owner(reading) or remarks.backs_out(reading.text)
        away = found(r"\b(?:until|till|from|since)\b", reading.text)
        if open_plan is None and backs_out and not away:
            return scene.agenda.only_one_on(reading.moments.dates, reading.speaker)
        return None
    other = open_plan is not None and open_plan.is_open and open_plan.target is not event
    joins = found(r"\b(?:make|do|come to|attend|join|go to)\b", reading.text)
    if remarks.is_taken(reading.text) or (other and not joins):
        scene.note_mention(event, reading)
        return None
    return event


def _backed_out_of(scene: Scene, reading: Reading) -> Plan | None:
    """The plan that the speaker had agreed to and now leaves, though others came up since."""
    if not found(r"\b(?:drop|pull|back|bow) out\b|\bcry off\b|\bafter all\b", reading.text):
        return None
    agreed = (plan for plan in reversed(scene.plans) if plan.settled is not None)
    plan = next((plan for plan in agreed if reading.speaker in plan.backing), None)
    if plan is None or scene.age(plan) > FAR or plan.target is not None:
        return None
    plan.touched = scene.turn - 1
    return plan


def _is_beside_the_point(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Whether the refusal has nothing to do with the plan."""
    told = found(
        r"\b(?:told|said)(?: \w+)? no\b|\bnot (?:doing|having) (?:that|this|it)\b", reading.text
    )
    own = plan.speaker == reading.speaker and plan.touched == scene.turn != scene.hesitated
    if own and not told:
        return True  # the reason for one's own proposal
    if scene.story == "others" and found(r"\b(?:him|her|them)\b", reading.text):
        return True  # "He wants eighty euros. I told him no."
    in_doubt = scene.turn in (plan.touched, plan.nodded) and plan.speaker != reading.speaker
    backs = reading.speaker in plan.backing and not in_doubt
    if (
        scene.hesitated != scene.turn
        and reading.refuses_barely
        and (backs or scene.answers_other(plan, reading))
    ):
        return True
    return not scene.concerns(plan, reading)


def _turn_down(scene: Scene, plan: Plan, reading: Reading) -> None:
    plan.refused.add(reading.speaker)
    one_of_many = reading.speaker != plan.speaker and len(scene.setting.others) > 1
    if one_of_many and not scene.is_by_owner(reading):
        plan.backing.discard(reading.speaker)
        return
    if plan.action == "delete" and not plan.asked:
        return  # whoever cannot come does not object
    if plan.is_settled:
        plan.drop()
    else:
        plan.withdraw()
    if reading.moments.dates and not reading.moments.clocks:
        plan.when.day = None
    scene.attend(plan, reading, quote=False)


def hold(scene: Scene, reading: Reading) -> None:
    """Leaves open what is on the table until the speaker has made up his mind."""
    plan = _put_by_another(scene, reading)
    if plan is not None and not reading.moments:
        plan.held = scene.turn


def _put_by_another(scene: Scene, reading: Reading) -> Plan | None:
    """What somebody else has put on the table, and nobody has settled."""
    plan = scene.near(2)
    return plan if plan is not None and plan.is_open and plan.speaker != reading.speaker else None


def _is_held(scene: Scene, plan: Plan, reading: Reading) -> bool:
    """Whether somebody still has to think about the plan, and a mere "OK" is about that."""
    return plan.held not in (None, scene.turn) and not reading.agrees_strongly


def puts_off(scene: Scene) -> bool:
    """Whether the owner takes back the consent given a moment ago ("I have to ask first")."""
    plan, owner = scene.near(1), scene.setting.owner
    if plan is None or plan.target is not None or owner not in plan.backing:
        return False
    if plan.speaker == owner and not plan.asked:
        return False
    plan.backing.discard(owner)
    plan.settled = None
    return True


def hinders(scene: Scene, reading: Reading) -> bool:
    """Whether the speaker has something else at the time that is on the table."""
    plan = _put_by_another(scene, reading)
    if plan is None or plan.foreign:
        return False
    moments = reading.moments
    if not remarks.is_taken(reading.text) or not moments.names_a_time or moments.lengths:
        return False
    if reading.question or reading.agrees or reading.proposes or reading.void:
        return False
    event = scene.event_named(reading, reading.moments)
    if event is not None:
        scene.note_mention(event, reading)
    return True


def agree(scene: Scene, reading: Reading) -> None:
    """Puts the speaker behind the plan talked about, and those that came up with it."""
    focus = scene.near(FAR if reading.agrees_strongly else NEAR)
    if focus is None or remarks.leaves_open(reading.utterance.words):
        return
    if not reading.agrees_strongly and scene.answers_other(focus, reading):
        return
    for plan in [plan for plan in scene.plans if plan.touched == focus.touched]:
        if reading.speaker in plan.backing and not plan.is_open:
            plan.nodded = scene.turn
        elif _can_agree(plan, reading) and not _is_held(scene, plan, reading):
            plan.when.pick(reading.text)
            plan.place = plan.place or reading.place
            plan.tentative = plan.tentative or reading.tentative
            plan.back(reading.speaker)
            let_owner_decide(scene, plan, reading)
            plan.quote(reading.utterance)
            plan.touched = scene.turn
            scene.conclude(plan, sure=True)


def _can_agree(plan: Plan, reading: Reading) -> bool:
    """Whether it is for the speaker to agree to what is on the table."""
    if plan.action is None or plan.foreign:
        return False
    if reading.speaker == plan.speaker and not plan.asked:
        return False
    outside = plan.addressees and reading.speaker not in plan.addressees | plan.willing
    return not outside or remarks.joins(reading.text)


def let_owner_decide(scene: Scene, plan: Plan, reading: Reading) -> None:
    """The owner answers her own question about what others wanted ("Today? Sure.")."""
    asked = plan.asked and plan.speaker == reading.speaker == scene.setting.owner
    wanted = bool(plan.willing - {reading.speaker}) or reading.announces or reading.calendar
    if asked and not reading.question and wanted and not plan.refused:
        plan.asked, plan.told = False, True


def answers(scene: Scene, reading: Reading) -> bool:
    """Whether the clause can only be an answer to what somebody else put on the table."""
    waits = _put_by_another(scene, reading) is not None
    return waits and not (reading.moments or reading.question or reading.void)


def invite(scene: Scene, reading: Reading) -> bool:
    """Whether the clause opens the plan talked about to the hearers ("want to come?")."""
    plan, activity, aside = scene.near(), reading.activity, scene.aside
    recent = aside is not None and scene.age(aside) <= 2
    if aside is not None and recent and aside.lines[-1].speaker == reading.speaker:
        plan = aside
    elif scene.last_mention.turn == scene.turn:
        return True  # "And the party, are you coming?"
    if plan is None or plan.target is not None or not plan.when.is_known:
        return False
    named = activity if activity is not None and not activity.weak else None
    if named is not None and same_plan(scene, reading, named) is not plan:
        return False
    plan.foreign = False
    plan.offer(reading.speaker, "create", asked=True, told=False)
    scene.attend(plan, reading)
    return True


def is_given_away(scene: Scene, reading: Reading) -> bool:
    """Whether somebody else does what was just named ("Sven is going to that one")."""
    near = scene.near(0)
    if near is None or not near.is_open or near.speaker != reading.speaker or reading.moments:
        return False
    near.foreign = found(r"\b(?:that|this|it|him|her|them)\b", reading.text)
    return near.foreign

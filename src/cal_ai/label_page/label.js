/* A conversation beside a form for each event; what a draft proposes is kept, corrected or removed. */
"use strict";

(() => {
  const { make } = texts;
  const { change, draftAgain, isAsked, isSeen, look, panel, start, step } = shell;
  const WHOLE = "whole";
  const SETTINGS = "settings";
  const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

  let talk = null;
  let content = null;
  let cards = new Map();
  let lines = [];
  let current = null;
  let cursor = -1;
  let opened = false;

  const eventOf = (id) => content.events.find((event) => event.id === id);

  // ---- fields ---------------------------------------------------------------------------------

  function labelled(name, control, wide = false) {
    return make("label", wide ? { class: "wide" } : {}, name, control);
  }

  /** A control that writes what it holds into an object of the content at every keystroke. */
  function field(control, find, name, read) {
    control.addEventListener("input", () => {
      change(() => {
        const value = read(control.value);
        if (value === null) delete find()[name];
        else find()[name] = value;
      }, `${current} ${name} ${control.dataset.of ?? ""}`);
      drawCards();
      showPanel();
    });
    return control;
  }

  const textOrNothing = (value) => (value.trim() ? value : null);
  const whole = (value) => value;
  const list = (value) => {
    const items = value.split(",").map((item) => item.trim()).filter(Boolean);
    return items.length ? items : null;
  };
  const moment = (value) => (value ? (value.length === 16 ? `${value}:00` : value) : null);

  /** Times with an offset have no control of their own; they stay text. */
  function momentInput(value) {
    const plain = !value || LOCAL.test(value);
    return make("input", { type: plain ? "datetime-local" : "text", value: value ?? "", step: "60" });
  }

  function choice(values, chosen, names = values) {
    const select = make("select", {}, ...values.map((value, n) => make("option", { value }, names[n])));
    if (chosen !== undefined && !values.includes(chosen)) select.append(make("option", { value: chosen }, chosen));
    select.value = chosen ?? values[0];
    return select;
  }

  // ---- events ---------------------------------------------------------------------------------

  function plannedChoice(id, fields) {
    const planned = content.sidecar.calendar_context ?? [];
    const numbers = planned.map((_, n) => String(n + 1));
    const values = ["", "true", ...numbers];
    const names = ["not checked", "any calendar event", ...planned.map((one) => one.summary)];
    const required = fields.existing_event_id_required;
    const known = fields.existing_event_id ?? (required === false ? undefined : required);
    const select = choice(values, known === undefined || known === null ? "" : String(known), names);
    select.addEventListener("input", () => {
      change(() => {
        const event = eventOf(id).fields;
        delete event.existing_event_id;
        delete event.existing_event_id_required;
        if (select.value === "true") event.existing_event_id_required = true;
        else if (select.value) event.existing_event_id = Number(select.value);
      });
    });
    return select;
  }

  function eventCard({ id, fields }) {
    const given = talk.given[id];
    const find = () => eventOf(id).fields;
    const input = (name, attributes = {}) => make("input", { type: "text", value: fields[name] ?? "", ...attributes });
    const people = make("input", { type: "text", value: (fields.attendees_contain ?? []).join(", ") });
    const remove = make("button", { type: "button", class: "remove" }, "Remove");
    remove.addEventListener("click", () => removeEvent(id));
    const card = make(
      "article",
      { class: "card", "data-id": id },
      make(
        "header",
        {},
        make("h3", {}, make("bdi", {}, fields.title || "new event")),
        given ? make("span", { class: "chip soft" }, given.from) : null,
        given?.confidence ? make("span", { class: "chip soft" }, `confidence ${given.confidence}`) : null,
        remove,
      ),
      make(
        "div",
        { class: "form" },
        labelled("Action", field(choice(talk.actions, fields.action), find, "action", whole)),
        labelled("Title", field(input("title"), find, "title", whole)),
        labelled("Start", field(momentInput(fields.start_time), find, "start_time", moment)),
        labelled("End", field(momentInput(fields.end_time), find, "end_time", moment)),
        labelled("Place", field(input("location"), find, "location", textOrNothing)),
        labelled("People, separated by commas", field(people, find, "attendees_contain", list)),
        fields.action === "create" ? null : labelled("Calendar event", plannedChoice(id, fields), true),
      ),
      make("p", { class: "note", dir: "auto" }, given?.reasoning ?? ""),
    );
    card.addEventListener("focusin", () => setCurrent(id, false));
    card.addEventListener("click", () => setCurrent(id, false));
    return card;
  }

  function removeEvent(id) {
    const index = content.events.findIndex((event) => event.id === id);
    if (index < 0) return;
    change(() => content.events.splice(index, 1));
    look(id);
    drawAll();
    const next = content.events[Math.min(index, content.events.length - 1)];
    setCurrent(next ? next.id : WHOLE);
  }

  function addEvent(fields = { action: "create", title: "" }) {
    const id = `added-${crypto.randomUUID().slice(0, 8)}`;
    change(() => content.events.push({ id, fields: structuredClone(fields) }));
    drawAll();
    setCurrent(id);
    cards.get(id).querySelector("input").focus();
  }

  // ---- questions of a run ---------------------------------------------------------------------

  const summary = (fields) =>
    fields
      ? [fields.action, fields.title, fields.start_time?.replace("T", " ").slice(0, 16), fields.location].filter(Boolean).join(" · ")
      : "nothing";

  const isSame = (one, other) => one.title === other.title && (one.start_time ?? "").slice(0, 16) === (other.start_time ?? "").slice(0, 16);

  /** Takes the run's word for the truth: its event instead of the expected one. */
  function takeAnswer(question) {
    change(() => {
      const index = question.expected ? content.events.findIndex((event) => isSame(event.fields, question.expected)) : -1;
      const taken = question.got ? [{ id: `taken-${question.id}`, fields: structuredClone(question.got) }] : [];
      if (index >= 0) content.events.splice(index, 1, ...taken);
      else content.events.push(...taken);
    });
    look(question.id);
    drawAll();
    step(1);
  }

  function questionCard(question) {
    const right = make("button", { type: "button" }, make("kbd", {}, "y"), " The truth is right");
    right.addEventListener("click", () => keep());
    const take = make("button", { type: "button" }, make("kbd", {}, "t"), " Accept the run's answer");
    take.addEventListener("click", () => takeAnswer(question));
    const isTakeable = question.expected !== null || question.got !== null;
    const card = make(
      "article",
      { class: "card question", "data-id": question.id },
      make(
        "header",
        {},
        make("span", { class: "chip invented" }, question.kind),
        make("h3", {}, "Is the truth wrong here?"),
        question.confidence ? make("span", { class: "chip soft" }, `confidence ${question.confidence}`) : null,
      ),
      make("dl", {}, make("dt", {}, "truth"), make("dd", { dir: "auto" }, summary(question.expected)), make("dt", {}, "run"), make("dd", { dir: "auto" }, summary(question.got))),
      make("p", { class: "note", dir: "auto" }, question.note ?? ""),
      make("div", { class: "offers" }, right, isTakeable ? take : null),
    );
    card.addEventListener("click", () => setCurrent(question.id, false));
    return card;
  }

  // ---- the circumstances ----------------------------------------------------------------------

  function summaryOf({ owner, reference_datetime: now, calendar_context: planned }) {
    const count = (planned ?? []).length;
    const said = [`Owner ${owner ?? "Alice"}`, `now ${(now ?? "").replace("T", " ").slice(0, 16)}`];
    return [...said, `${count} planned event${count === 1 ? "" : "s"}`].join(" · ");
  }

  function settingsCard() {
    const sidecar = () => content.sidecar;
    const again = make("button", { type: "button" }, "Draft again");
    again.addEventListener("click", draftAgain);
    const add = make("button", { type: "button" }, "Add a calendar event");
    add.addEventListener("click", () => {
      change(() => (sidecar().calendar_context ??= []).push({ id: `event-${crypto.randomUUID().slice(0, 8)}`, summary: "", start: sidecar().reference_datetime }));
      drawAll();
    });
    const planned = (content.sidecar.calendar_context ?? []).map((event, n) => plannedRow(event, n));
    const details = make(
      "details",
      opened ? { open: "" } : {},
      make("summary", {}, summaryOf(content.sidecar), " ", make("kbd", {}, "s")),
      make(
        "div",
        { class: "form" },
        labelled("Owner", field(choice(talk.speakers, content.sidecar.owner), sidecar, "owner", whole)),
        labelled("Now", field(momentInput(content.sidecar.reference_datetime), sidecar, "reference_datetime", moment)),
        labelled("Tolerance", field(choice(talk.levels, content.sidecar.tolerance ?? "moderate"), sidecar, "tolerance", whole)),
      ),
      ...planned,
      make("div", { class: "offers" }, add, talk.questions.length ? null : again),
    );
    details.addEventListener("toggle", () => {
      opened = details.open;
    });
    return make("article", { class: "card settings", "data-id": SETTINGS }, details);
  }

  function plannedRow(event, n) {
    const find = () => content.sidecar.calendar_context[n];
    const remove = make("button", { type: "button" }, "Remove");
    remove.addEventListener("click", () => {
      change(() => content.sidecar.calendar_context.splice(n, 1));
      drawAll();
    });
    const input = (name) => make("input", { type: "text", value: event[name] ?? "", "data-of": n });
    const time = (name) => {
      const control = momentInput(event[name]);
      control.dataset.of = n;
      return control;
    };
    return make(
      "div",
      { class: "planned" },
      make(
        "div",
        { class: "form" },
        labelled(`Planned event ${n + 1}`, field(input("summary"), find, "summary", whole)),
        labelled("Start", field(time("start"), find, "start", moment)),
        labelled("End", field(time("end"), find, "end", moment)),
        labelled("Place", field(input("location"), find, "location", textOrNothing)),
      ),
      remove,
    );
  }

  // ---- drawing --------------------------------------------------------------------------------

  function render(state, box, given) {
    talk = state;
    content = given;
    current = null;
    cursor = -1;
    lines = state.lines.map((said, index) => {
      const line = make(
        "div",
        { class: "line", dir: "auto" },
        make("span", { class: "number" }, String(said.line)),
        make("span", {}, make("span", { class: "speaker" }, said.speaker), said.words),
      );
      line.addEventListener("click", () => {
        moveCursor(index);
        toggleLine();
      });
      return line;
    });
    box.replaceChildren(make("div", { class: "desk" }, make("div", { class: "talk", tabindex: "0" }, ...lines), make("div", { id: "events" })));
    if (content) drawAll();
  }

  function update(given) {
    content = given;
    drawAll();
    setCurrent(cards.has(current) ? current : WHOLE);
  }

  function drawAll() {
    cards = new Map();
    for (const question of talk.questions) cards.set(question.id, questionCard(question));
    for (const event of content.events) cards.set(event.id, eventCard(event));
    const settings = settingsCard();
    const add = make("button", { type: "button" }, make("kbd", {}, "a"), " Add an event");
    add.addEventListener("click", () => addEvent());
    const none = content.events.length ? null : make("p", { class: "soft" }, "No events.");
    document.getElementById("events").replaceChildren(...[settings, ...cards.values(), none, add].filter(Boolean));
    cards.set(SETTINGS, settings);
    drawCards();
  }

  function drawCards() {
    for (const [id, card] of cards) {
      card.classList.toggle("asked", isAsked(id) && !isSeen(id));
      card.classList.toggle("current", id === current);
      const title = card.querySelector("h3 bdi");
      if (title) title.textContent = eventOf(id)?.fields.title || "new event";
    }
    drawLines();
  }

  function drawLines() {
    const settled = new Set(eventOf(current)?.fields.lines ?? talk.given[current]?.lines ?? []);
    lines.forEach((line, index) => {
      line.classList.toggle("settles", settled.has(talk.lines[index].line));
      line.classList.toggle("cursor", index === cursor);
    });
  }

  function moveCursor(index) {
    if (index < 0 || index >= lines.length) return;
    cursor = index;
    drawLines();
    lines[index].scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  /** Marks the line under the cursor as one that settles the current event, or takes that back. */
  function toggleLine() {
    const event = eventOf(current);
    if (!event || cursor < 0) return;
    const number = talk.lines[cursor].line;
    change(() => {
      const known = new Set(event.fields.lines ?? []);
      if (!known.delete(number)) known.add(number);
      if (known.size) event.fields.lines = [...known].sort((a, b) => a - b);
      else delete event.fields.lines;
    });
    drawLines();
  }

  // ---- walking --------------------------------------------------------------------------------

  function setCurrent(id, scrolls = true) {
    current = id;
    drawCards();
    if (scrolls) cards.get(id)?.scrollIntoView({ block: "center", behavior: "instant" });
    const settled = document.querySelector(".line.settles");
    if (scrolls && settled) settled.scrollIntoView({ block: "nearest", behavior: "instant" });
    showPanel();
  }

  /** Goes to a place; to the first event where that is no more. */
  function focus(place) {
    const isThere = place === WHOLE || cards.has(place);
    setCurrent(isThere ? place : (content.events[0]?.id ?? WHOLE));
  }

  function keep() {
    if (current === null) return;
    look(current);
    drawCards();
    step(1);
  }

  const button = (label, key, action) => {
    const element = make("button", { type: "button" }, make("kbd", {}, key), ` ${label}`);
    element.addEventListener("click", action);
    return element;
  };

  function showPanel() {
    const question = talk.questions.find(({ id }) => id === current);
    const event = eventOf(current);
    const words = {
      [WHOLE]: "Is every event of the conversation in the list, and no other?",
      [SETTINGS]: "The annotators differ in owner, time, tolerance or calendar: decide in the form.",
    };
    const removes = event ? button("Remove", "x", () => removeEvent(current)) : null;
    panel(
      make("strong", { dir: "auto" }, words[current] ?? (question ? "Is the truth wrong here?" : event?.fields.title || "new event")),
      make(
        "span",
        { class: "decide" },
        button(current === WHOLE ? "Yes, that is all" : question ? "The truth is right" : "Right", "y", keep),
        removes,
        question ? button("Accept the run's", "t", () => takeAnswer(question)) : button("Add", "a", () => addEvent()),
        button("Previous", "p", () => step(-1)),
        button("Next", "n", () => skip()),
      ),
    );
  }

  /** Goes on without saying that the place is right. */
  function skip() {
    const ids = [...talk.questions.map(({ id }) => id), ...content.events.map(({ id }) => id), WHOLE];
    const next = ids[ids.indexOf(current) + 1];
    if (next) setCurrent(next);
    else step(1);
  }

  const KEYS = {
    n: skip,
    p: () => step(-1),
    y: keep,
    x: () => removeEvent(current),
    a: () => addEvent(),
    e: () => cards.get(current)?.querySelector("input")?.focus(),
    s: () => {
      opened = true;
      drawAll();
      document.querySelector(".settings select").focus();
    },
    t: () => {
      const question = talk.questions.find(({ id }) => id === current);
      if (question) takeAnswer(question);
    },
    ArrowDown: () => moveCursor(cursor + 1),
    ArrowUp: () => moveCursor(Math.max(0, cursor - 1)),
    " ": toggleLine,
  };

  function key(event) {
    if (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key)) return false;
    if (!Object.hasOwn(KEYS, event.key)) return false;
    KEYS[event.key]();
    return true;
  }

  start({
    at: () => current,
    focus,
    key,
    keys: [
      ["y", "this is right; go to the next undecided one"],
      ["x", "remove the event"],
      ["a", "add an event"],
      ["e", "edit the event; Escape leaves a field"],
      ["s", "owner, time, tolerance, calendar"],
      ["n p", "next, previous event"],
      ["↓ ↑", "next, previous line"],
      ["Space", "mark or unmark the line as settling the event"],
      ["t", "accept the run's answer"],
    ],
    render,
    update,
  });
})();

/* The frame of a label page: opens texts, saves every change, undoes, walks, keeps conflicts apart.
   A view (label.js) draws a text and edits its content. */
"use strict";

globalThis.shell = (() => {
  const RETRY_MS = 1000;
  const DRAFT_MS = 250;
  const LARGEST_KEPT_ALIVE = 60000;
  const UNDO_STEPS = 200;
  const { make } = texts;
  const byId = (id) => document.getElementById(id);
  const session = crypto.randomUUID();

  let view = null;
  let overview = null;
  let text = null;
  let content = null;
  let seen = new Set();
  let asked = new Set();
  let unsent = new Set();
  let undone = [];
  let conflict = null;
  let count = 0;
  let sending = null;
  let waiting = false;
  let retry = 0;
  let changedField = null;
  let opening = 0;

  // ---- saving ---------------------------------------------------------------------------------

  const address = (number) => `texts/${number}`;

  function put(places) {
    const body = JSON.stringify({
      session,
      count: ++count,
      stamp: text.stamp,
      content,
      seen: places,
      at: view.at(),
    });
    return fetch(address(text.number), {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body,
      // Kept alive, a request outlives the tab; browsers allow that for small ones only.
      keepalive: body.length < LARGEST_KEPT_ALIVE,
    });
  }

  function say(words, failed = false) {
    byId("saved").textContent = words;
    byId("saved").classList.toggle("failed", failed);
  }

  /** Sends what has changed; while a request is on its way, the next one waits for its answer. */
  function save() {
    if (conflict) return;
    say("saving …");
    if (sending) {
      waiting = true;
      return;
    }
    sending = send().finally(() => {
      sending = null;
      if (waiting) save();
    });
  }

  async function send() {
    waiting = false;
    const places = [...unsent];
    let answer;
    let said;
    try {
      answer = await put(places);
      said = await answer.json();
    } catch {
      say("not saved: the server does not answer, trying again", true);
      clearTimeout(retry);
      retry = setTimeout(save, RETRY_MS);
      return;
    }
    if (answer.status === 409) {
      enterConflict(said);
      return;
    }
    if (!answer.ok) {
      say(`not saved: ${said.error}`, true);
      return;
    }
    for (const place of places) unsent.delete(place);
    text.stamp = said.stamp;
    const problem = said.problem ? `saved; ${overview.annotator ? "not done" : "no gold"} yet: ${said.problem}` : "";
    if (!waiting) say(problem || "saved", Boolean(problem));
    const before = overview.texts[text.number].left;
    overview.texts[text.number].left = said.left;
    if ((before === 0) !== (said.left === 0)) showProgress();
    if (before !== said.left) showTexts();
  }

  async function settle() {
    clearTimeout(retry);
    while (sending) await sending;
    if (unsent.size || waiting) {
      save();
      while (sending) await sending;
    }
  }

  addEventListener("pagehide", () => {
    if (text && content && !conflict && !text.drafting && (unsent.size || waiting || sending)) put([...unsent]);
  });

  // ---- a file that changed on disk ------------------------------------------------------------

  function enterConflict(state) {
    conflict = state;
    waiting = false;
    const words = state.text_changed
      ? `The text of ${state.name} has been changed on disk in the meantime.`
      : `Somebody else has changed ${state.name} on disk in the meantime. Nothing was overwritten.`;
    byId("conflict-text").textContent = words;
    byId("keep").hidden = Boolean(state.text_changed);
    byId("conflict").hidden = false;
    byId("conflict").scrollIntoView({ block: "center", behavior: "instant" });
    say("not saved: changed on disk", true);
  }

  function leaveConflict() {
    conflict = null;
    byId("conflict").hidden = true;
  }

  function keepMine() {
    text.stamp = conflict.stamp;
    const isOpening = conflict === text;
    leaveConflict();
    if (isOpening) begin();
    save();
  }

  function takeTheirs() {
    const state = conflict;
    leaveConflict();
    show({ ...state, content: state.theirs ?? state.content, theirs: null });
    if (state.theirs) save();
    else say("loaded the version on disk");
  }

  // ---- a text ---------------------------------------------------------------------------------

  async function fetched(path) {
    const answer = await fetch(path);
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error);
    return value;
  }

  async function open(number, place = null) {
    if (conflict) return;
    const ticket = ++opening; // of two that are asked for, the later one is shown
    if (text && !text.drafting) await settle();
    let state;
    try {
      state = await fetched(address(number));
    } catch (error) {
      notice(error.message);
      if (text) showTexts();
      return;
    }
    if (ticket !== opening || conflict) return;
    show(state, place);
    if (state.drafting) setTimeout(() => ticket === opening && open(number, place), DRAFT_MS);
  }

  function show(state, place = null) {
    text = state;
    content = state.content ?? null;
    seen = new Set(state.seen ?? []);
    asked = new Set(state.places ?? []);
    unsent = new Set();
    undone = keptSteps();
    document.title = `${state.title} – ${overview.title}`;
    byId("title").textContent = state.title;
    notice(state.drafting ? "The systems are making a draft …" : state.notice);
    byId("panel").hidden = Boolean(state.drafting);
    view.render(state, byId("work"), content);
    showTexts();
    if (state.drafting) return;
    if (state.theirs) {
      enterConflict(state);
      return;
    }
    begin(place);
  }

  /** Goes to where one was, else to the first place that was not looked at. */
  function begin(place = null) {
    say("");
    const first = place ?? text.at ?? text.places.find((one) => !seen.has(one)) ?? null;
    view.focus(first, place !== null);
    refresh();
    if (!left() && overview.texts[text.number].left !== 0) save(); // there is nothing to decide
  }

  function notice(words) {
    byId("notice").textContent = words ?? "";
    byId("notice").hidden = !words;
  }

  /** Marks a place as looked at; only places that have to be are kept. */
  function look(place) {
    if (conflict || !asked.has(place) || seen.has(place)) return;
    seen.add(place);
    unsent.add(place);
    if (overview.walk.length) overview.walked.push([text.number, place]);
    showLeft();
    save();
  }

  /** Changes the content, with the way back kept; keystrokes in one field are one step. */
  function change(mutate, field = null) {
    if (conflict || !content) return;
    if (field === null || field !== changedField) undone.push(JSON.stringify(content));
    changedField = field;
    if (undone.length > UNDO_STEPS) undone.shift();
    mutate(content);
    keepSteps();
    byId("undo").disabled = false;
    save();
  }

  function undo() {
    if (conflict || !undone.length) return;
    content = JSON.parse(undone.pop());
    changedField = null;
    keepSteps();
    view.update(content);
    refresh();
    save();
  }

  /** The same for equal contents, whatever the order of their fields. */
  function canonical(value) {
    const sorted = (_, part) =>
      part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part;
    return JSON.stringify(value, sorted);
  }

  const stepsName = () => `undo ${overview.folder} ${overview.annotator} ${text.name}`;

  /** Keeps the way back for when the page is loaded again, as far as the browser has room. */
  function keepSteps() {
    try {
      sessionStorage.setItem(stepsName(), JSON.stringify({ now: canonical(content), steps: undone }));
    } catch {
      sessionStorage.removeItem(stepsName());
    }
  }

  /** The way back that was kept; none where the text was changed elsewhere since. */
  function keptSteps() {
    const kept = JSON.parse(sessionStorage.getItem(stepsName()) ?? "null");
    return content && kept?.now === canonical(content) ? kept.steps : [];
  }

  function refresh() {
    byId("undo").disabled = !undone.length;
    showLeft();
  }

  // ---- walking --------------------------------------------------------------------------------

  const left = () => [...asked].filter((place) => !seen.has(place)).length;

  /** Goes to the next place that was not looked at, most doubtful first, in another text if need be. */
  async function step(direction) {
    if (conflict || !text || text.drafting) return;
    const walked = new Set(overview.walked.map(String));
    const ways = overview.walk.length ? overview.walk : text.places.map((place) => [text.number, place]);
    const isSeen = ([number, place]) => (overview.walk.length ? walked.has(`${number},${place}`) : seen.has(place));
    const at = ways.findIndex(([number, place]) => number === text.number && place === view.at());
    if (direction < 0) {
      if (at > 0) await go(ways[at - 1]);
      return;
    }
    const ahead = [...ways.slice(at + 1), ...ways.slice(0, Math.max(0, at))];
    const next = ahead.find((way) => !isSeen(way));
    if (next) await go(next);
    else if (!overview.walk.length) await openNextUndone();
    else notice("Every mistake of the run has been reviewed.");
  }

  async function go([number, place]) {
    if (number === text.number) view.focus(place, true);
    else await open(number, place);
  }

  async function openNextUndone() {
    const before = opening;
    await settle();
    if (before !== opening) return;
    const { length } = overview.texts;
    for (let ahead = 1; ahead < length; ahead++) {
      const number = (text.number + ahead) % length;
      if (overview.texts[number].left !== 0) {
        await open(number);
        return;
      }
    }
    notice(left() || overview.texts[text.number].left ? "" : `Every ${overview.noun} is done.`);
  }

  function turn(direction) {
    const number = text.number + direction;
    if (number >= 0 && number < overview.texts.length) open(number);
  }

  // ---- the frame ------------------------------------------------------------------------------

  function showLeft() {
    const count = left();
    const walk = overview.walk.length ? ` · ${overview.walk.length - overview.walked.length} in all` : "";
    byId("left").textContent = (count ? `${count} to look at` : "done") + walk;
  }

  function showTexts() {
    const options = overview.texts.map(({ name, left: open }, number) => {
      const sign = open === 0 ? "✓ " : open === null ? "" : "… ";
      return make("option", { value: number }, `${sign}${name}`);
    });
    byId("texts").replaceChildren(...options);
    byId("texts").value = text.number;
    byId("previous").disabled = text.number === 0;
    byId("next").disabled = text.number === overview.texts.length - 1;
  }

  async function showProgress() {
    byId("progress").textContent = (await fetched("progress")).said;
  }

  function showKeys() {
    const rows = [
      ...view.keys,
      ["u", "undo"],
      ["[ ]", `previous, next ${overview.noun}`],
      ["?", "these keys"],
    ];
    byId("key-list").replaceChildren(
      ...rows.map(([keys, meaning]) =>
        make("tr", {}, make("td", {}, ...keys.split(" ").map((key) => make("kbd", {}, key))), make("td", {}, meaning)),
      ),
    );
    byId("keys").showModal();
  }

  function toggleTheme() {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
  }

  const isField = (element) => ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName);

  function onKey(event) {
    if (byId("keys").open || !text || text.drafting) return;
    if (conflict) {
      if (event.key === "1" && !byId("keep").hidden) keepMine();
      else if (event.key === "2") takeTheirs();
      return;
    }
    const wantsUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
    if (isField(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (wantsUndo || event.key === "u") undo();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "]") turn(1);
    else if (event.key === "[") turn(-1);
    else if (event.key === "?") showKeys();
    else if (!view.key(event)) return;
    event.preventDefault();
  }

  async function start(chosen) {
    view = chosen;
    byId("theme").addEventListener("click", toggleTheme);
    byId("help").addEventListener("click", showKeys);
    byId("undo").addEventListener("click", undo);
    byId("keep").addEventListener("click", keepMine);
    byId("take").addEventListener("click", takeTheirs);
    byId("previous").addEventListener("click", () => turn(-1));
    byId("next").addEventListener("click", () => turn(1));
    byId("texts").addEventListener("change", (event) => {
      open(Number(event.target.value));
      event.target.blur();
    });
    document.addEventListener("keydown", onKey);
    overview = await fetched("overview");
    const who = overview.annotator ? ` · ${overview.annotator}` : "";
    byId("what").textContent = `${overview.title} · ${overview.folder}${who}`;
    showProgress();
    if (overview.walk.length) await step1();
    else await open(overview.current);
  }

  /** Asks for another draft under what the content says by now. */
  async function draftAgain() {
    await settle();
    if (conflict) return;
    await fetch(`${address(text.number)}/draft`, { method: "PUT" });
    const { number } = text;
    await open(number);
    while (text.drafting) await new Promise((done) => setTimeout(done, DRAFT_MS));
    if (text.number === number) save();
  }

  /** Begins a walk at its first place that was not looked at. */
  async function step1() {
    const walked = new Set(overview.walked.map(String));
    const [number, place] = overview.walk.find((way) => !walked.has(String(way))) ?? overview.walk[0];
    await open(number, place);
  }

  const panel = (...children) => byId("panel").replaceChildren(...children.filter((child) => child !== null));
  const isSeen = (place) => seen.has(place);
  const isAsked = (place) => asked.has(place);
  return { change, draftAgain, isAsked, isSeen, look, panel, start, step };
})();

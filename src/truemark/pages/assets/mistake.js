/* One mistake in detail: in the running text, or as expected beside got. */
"use strict";

/** What shows a mistake of these data; `levels` are the thresholds that sliders move, one per run.
    `truth` knows what the reader marked; `shown` is called when part of a mistake is drawn anew. */
globalThis.mistakesOf = (data, levels, truth, shown) => {
  const AROUND = 5000;
  const { WORD, make, marked, marksAt } = texts;
  const { runs, findings } = data;
  let compared = null;
  const unitKey = (id, repeat) => `${repeat} ${id}`;
  const units = runs.map((run) => new Map(run.units.map((u) => [unitKey(u.id, u.repeat), u])));
  const unitOf = (finding, run = finding.run) => units[run].get(unitKey(finding.unit, finding.repeat));
  /** The words around a mistake: its own, or those of the whole text that it is part of. */
  const excerptOf = (finding) =>
    "to" in finding ? data.texts[unitOf(finding).text].slice(finding.from, finding.to) : (data.texts[finding.text ?? -1] ?? "");
  const excerptMarks = (finding) =>
    finding.marks ??
    unitOf(finding)
      .marks.filter(([start, end, role]) => role !== "candidate" && finding.from <= start && end <= finding.to)
      .map(([start, end, role, probability]) => [start - finding.from, end - finding.from, role, probability, null]);
  const groupsOf = (finding) => unitOf(finding)?.group ?? [];
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  const peersOf = (number) => runs.map((_, other) => other).filter((other) => runs[other].group === runs[number].group);
  const isCompared = (number) => peersOf(number).length > 1;
  const chip = (text, name = "") => make("span", { class: `chip ${name}` }, make("bdi", {}, text));
  const kindName = (kind) => (Object.hasOwn(WORD, kind) ? kind : "other");

  function headOf(finding) {
    const group = groupsOf(finding);
    const sure = finding.confidence ?? null;
    return make(
      "header",
      {},
      chip(finding.kind, kindName(finding.kind)),
      isCompared(finding.run) ? chip(runs[finding.run].name, runs[finding.run].color) : null,
      make("h3", {}, make("bdi", {}, finding.unit + (finding.repeat ? ` #${finding.repeat}` : ""))),
      ...group.map(([name, value]) => chip(`${name}: ${value}`, "soft")),
      sure === null ? null : chip(`confidence ${sure}`, "soft"),
      "probability" in finding ? chip(`p ${finding.probability.toFixed(3)}`, "soft") : null,
      make("a", { href: `#finding=${findings.indexOf(finding)}`, class: "permalink" }, "link"),
    );
  }

  /** The buttons by which a reader says that not the system is wrong. */
  function judging(finding) {
    if (!finding.mistake) return null;
    const buttons = [["wrong", "The truth is wrong here"], ["unclear", "Unclear"]].map(([verdict, words]) => {
      const pressed = String(truth.verdictOf(finding) === verdict);
      return make("button", { type: "button", "data-verdict": verdict, "aria-pressed": pressed }, words);
    });
    return make("div", { class: "judging", role: "group", "aria-label": "Is the truth right?" }, ...buttons);
  }

  /** The values of expected and got, field by field; differing fields stand out. */
  function fieldsTable(finding) {
    const differing = new Map((finding.differences ?? []).map((difference) => [difference[0], difference]));
    const sides = [finding.expected ?? null, finding.got ?? null];
    const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
    const rows = sides.some(isObject)
      ? [...new Set([...sides.filter(isObject).flatMap(Object.keys), ...differing.keys()])]
      : [];
    const cell = (side, name) => {
      if (side === null) return "–";
      if (!isObject(side)) return plain(side);
      return Object.hasOwn(side, name) && side[name] !== null ? plain(side[name]) : "–";
    };
    const body = (rows.length ? rows : ["value"]).map((name) => {
      const difference = differing.get(name);
      const by = difference?.[3] ?? null;
      const element = make(
        "tr",
        difference ? { class: "differs" } : {},
        make("th", { scope: "row" }, make("bdi", {}, name)),
        ...sides.map((side) => make("td", {}, make("bdi", {}, cell(side, name)))),
      );
      if (by !== null) {
        element.lastChild.append(make("span", { class: "by" }, `${by} ${difference[4]}`));
      }
      return element;
    });
    const heads = ["field", "expected", "got"].map((name) => make("th", { scope: "col" }, name));
    const table = make("table", { class: "fields" }, make("thead", {}, make("tr", {}, ...heads)));
    table.append(make("tbody", {}, ...body));
    return make("div", { class: "scroll" }, table);
  }

  /** Whether it is about fields, not about a place in the text. */
  const isStructured = (finding) =>
    ["expected", "got"].some((name) => name in finding) ||
    (!("character" in finding) && (finding.differences ?? []).length > 0);

  /** The panels of the runs that are compared: two side by side; of more, the mistake's own and
      beside it the one that is chosen among the others. */
  function panelsOf(finding, panelOf) {
    const peers = peersOf(finding.run);
    if (peers.length < 3) return peers.map(panelOf).filter((panel) => panel !== null);
    const others = peers.filter((number) => number !== finding.run);
    if (!others.includes(compared)) [compared] = others;
    const tabs = make("div", { class: "tabs", role: "group", "aria-label": "Run to compare with" });
    const place = make("div", { class: "compared" });
    const choose = (number) => {
      compared = number;
      [...tabs.children].forEach((tab, at) => tab.setAttribute("aria-pressed", String(others[at] === number)));
      const absent = () => make("p", { class: "soft" }, "This run has no such text.");
      place.replaceChildren(tabs, panelOf(number) ?? absent());
    };
    for (const number of others) {
      const tab = make("button", { type: "button" }, make("bdi", {}, runs[number].name));
      tab.addEventListener("click", () => {
        choose(number);
        tab.focus();
        shown();
      });
      tabs.append(tab);
    }
    choose(compared);
    return [panelOf(finding.run), place];
  }

  const runTitle = (number) =>
    isCompared(number) ? make("h4", { class: runs[number].color }, make("bdi", {}, runs[number].name)) : null;

  /** What the system was told beside the text. */
  function contextOf(unit) {
    if (!unit?.context.length) return null;
    const lines = (value) =>
      Array.isArray(value)
        ? [make("ul", {}, ...value.map((line) => make("li", {}, make("bdi", {}, plain(line)))))]
        : [make("bdi", {}, plain(value))];
    const rows = unit.context.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...lines(value))]);
    return make("dl", { class: "context" }, ...rows);
  }

  /** The transcript beside what was expected and what each run got. */
  function structured(finding) {
    const unit = unitOf(finding);
    const whole = data.texts[unit?.text ?? -1];
    const text = whole ?? excerptOf(finding);
    const by = whole === undefined ? 0 : (finding.from ?? 0);
    const marks = excerptMarks(finding).map(([start, end, ...rest]) => [start + by, end + by, ...rest]);
    const box = make("div", { class: "text lines", dir: "auto", tabindex: "0", role: "region", "aria-label": "Conversation" });
    box.append(marked(text, marks, 0, text.length, null));
    const same = (other) => other.unit === finding.unit && other.repeat === finding.repeat;
    const panelOf = (number) => {
      const listed = findings.filter((other) => other.run === number && same(other) && isStructured(other));
      if (number === finding.run) listed.sort((a, b) => (b === finding) - (a === finding));
      const side = make("div", {}, runTitle(number));
      if (!listed.length) side.append(make("p", { class: "soft" }, "No mistake here."));
      for (const listing of listed) {
        const also = listing === finding ? "current" : "also";
        side.append(
          make("section", { class: also }, chip(listing.kind, kindName(listing.kind)), fieldsTable(listing), noteOf(listing)),
        );
      }
      return side;
    };
    const sides = make("div", { class: "sides" }, ...panelsOf(finding, panelOf));
    return make("div", { class: "beside" }, make("div", {}, contextOf(unit), box), sides);
  }

  const noteOf = (finding) => make("p", { class: "note", dir: "auto" }, finding.note ?? "");

  /** The running text around the mistake, once per run that has it, with a slider each. */
  function running(finding) {
    const panelOf = (number) => {
      const run = runs[number];
      const unit = unitOf(finding, number);
      const whole = unit !== undefined && unit.text !== null && "place" in finding;
      if (!whole && number !== finding.run) return null;
      const text = whole ? data.texts[unit.text] : excerptOf(finding);
      if (!text) return null;
      const place = whole ? finding.place : finding.at;
      const marks = () => (whole ? marksAt(unit, run, levels[number], text) : excerptMarks(finding));
      const label = `Text around the mistake, ${run.name}`;
      const box = make("div", { class: "text", dir: "auto", tabindex: "0", role: "region", "aria-label": label });
      box.refresh = () => {
        const from = Math.max(0, (place ?? 0) - AROUND);
        const to = Math.min(text.length, (place ?? 0) + AROUND);
        box.replaceChildren(marked(text, marks(), from, to, place ?? null));
      };
      box.refresh();
      const moves = whole && run.threshold !== null;
      return make("div", { class: "running" }, runTitle(number), moves ? sliderOf(number) : null, box);
    };
    return make("div", { class: "runnings" }, ...panelsOf(finding, panelOf), noteOf(finding));
  }

  function sliderOf(number) {
    const range = { type: "range", min: 0, max: 1, step: 0.001, "data-run": number };
    const label = make("label", {}, "Threshold ", make("input", range));
    const output = make("output", { "data-run": number });
    const reset = make("button", { type: "button", "data-run": number, "data-level": runs[number].threshold }, "reset");
    return make("div", { class: "slider small" }, label, output, reset);
  }

  /** A few words by which a finding is known in the list. */
  function snippet(finding) {
    const [first] = "character" in finding ? [] : (finding.differences ?? []);
    if (first) return `${first[0]}: ${plain(first[1])} → ${plain(first[2])}`;
    const side = finding.expected ?? finding.got;
    if (side !== undefined) {
      return typeof side === "object" && side !== null ? Object.values(side).filter((value) => typeof value === "string").slice(0, 3).join(" · ") : plain(side);
    }
    const text = excerptOf(finding);
    if (!("at" in finding)) return finding.note ?? text.slice(0, 80);
    const before = text.slice(Math.max(0, finding.at - 34), finding.at);
    return `…${before} ▏${text.slice(finding.at, finding.at + 34)}…`;
  }

  /** The finding as it stands on paper, without the whole text. */
  function printed(finding) {
    const text = excerptOf(finding);
    const near = finding.at ?? 0;
    const around = make("p", { class: "text", dir: "auto" });
    const [from, to] = [Math.max(0, near - 160), Math.min(text.length, near + 160)];
    around.append(marked(text, excerptMarks(finding), from, to, finding.at ?? null));
    const body = isStructured(finding) ? fieldsTable(finding) : around;
    return make("div", { class: "piece" }, headOf(finding), body, noteOf(finding));
  }

  const detail = (finding) =>
    [headOf(finding), judging(finding), isStructured(finding) ? structured(finding) : running(finding)].filter(
      (part) => part !== null,
    );
  return { chip, detail, excerptOf, groupsOf, isCompared, kindName, plain, printed, snippet };
};

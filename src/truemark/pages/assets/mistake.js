/* One mistake in detail: in the running text, or as expected beside got. */
"use strict";

/** What shows a mistake of these data; `levels` are the thresholds that sliders move, one per run. */
globalThis.mistakesOf = (data, levels) => {
  const AROUND = 5000;
  const { WORD, make, marked, marksAt } = texts;
  const { runs, findings } = data;
  const unitKey = (id, repeat) => `${repeat} ${id}`;
  const units = runs.map((run) => new Map(run.units.map((u) => [unitKey(u.id, u.repeat), u])));
  const unitOf = (finding, run = finding.run) => units[run].get(unitKey(finding.unit, finding.repeat));
  const groupsOf = (finding) => unitOf(finding)?.group ?? [];
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  const chip = (text, name = "") => make("span", { class: `chip ${name}` }, make("bdi", {}, text));
  const kindName = (kind) => (Object.hasOwn(WORD, kind) ? kind : "other");

  function headOf(finding) {
    const group = groupsOf(finding);
    const sure = finding.confidence ?? null;
    return make(
      "header",
      {},
      chip(finding.kind, kindName(finding.kind)),
      runs.length > 1 ? chip(runs[finding.run].name, `run-${finding.run % 6}`) : null,
      make("h3", {}, make("bdi", {}, finding.unit + (finding.repeat ? ` #${finding.repeat}` : ""))),
      ...group.map(([name, value]) => chip(`${name}: ${value}`, "soft")),
      sure === null ? null : chip(`confidence ${sure}`, "soft"),
      "probability" in finding ? chip(`p ${finding.probability.toFixed(3)}`, "soft") : null,
      make("a", { href: `#finding=${findings.indexOf(finding)}`, class: "permalink" }, "link"),
    );
  }

  /** The values of expected and got, field by field; differing fields stand out. */
  function fieldsTable(finding) {
    const differing = new Map((finding.differences ?? []).map((one) => [one[0], one]));
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
    const heads = ["", "expected", "got"].map((name) => make("th", { scope: "col" }, name));
    const table = make("table", { class: "fields" }, make("thead", {}, make("tr", {}, ...heads)));
    table.append(make("tbody", {}, ...body));
    return make("div", { class: "scroll" }, table);
  }

  const isStructured = (finding) =>
    ["expected", "got"].some((name) => name in finding) || (finding.differences ?? []).length > 0;

  /** The transcript beside what was expected and what each run got. */
  function structured(finding) {
    const unit = unitOf(finding);
    const text = data.texts[finding.text ?? unit?.text ?? -1] ?? "";
    const marks = "text" in finding ? finding.marks : [];
    const box = make("div", { class: "text lines", dir: "auto" });
    box.append(marked(text, marks, 0, text.length, null));
    const sides = make("div", { class: "sides" });
    const same = (one) => one.unit === finding.unit && one.repeat === finding.repeat;
    runs.forEach((run, number) => {
      const own = findings.filter((one) => one.run === number && same(one) && isStructured(one));
      if (number === finding.run) own.sort((a, b) => (b === finding) - (a === finding));
      if (runs.length > 1) sides.append(make("h4", { class: `run-${number % 6}` }, make("bdi", {}, run.name)));
      if (!own.length) sides.append(make("p", { class: "soft" }, "No mistake here."));
      for (const one of own) {
        const also = one === finding ? "current" : "also";
        sides.append(
          make("section", { class: also }, chip(one.kind, kindName(one.kind)), fieldsTable(one), noteOf(one)),
        );
      }
    });
    return make("div", { class: "beside" }, box, sides);
  }

  const noteOf = (finding) => make("p", { class: "note", dir: "auto" }, finding.note ?? "");

  /** The running text around the mistake, once per run that has it, with a slider each. */
  function running(finding) {
    const panels = runs.map((run, number) => {
      const unit = unitOf(finding, number);
      const whole = unit !== undefined && unit.text !== null && "place" in finding;
      if (!whole && number !== finding.run) return null;
      const source = whole ? unit.text : finding.text;
      if (source === undefined) return null;
      const text = data.texts[source];
      const place = whole ? finding.place : finding.at;
      const marks = () => (whole ? marksAt(unit, run, levels[number], text) : finding.marks);
      const box = make("div", { class: "text", dir: "auto", tabindex: "0" });
      box.refresh = () => {
        const from = Math.max(0, (place ?? 0) - AROUND);
        const to = Math.min(text.length, (place ?? 0) + AROUND);
        box.replaceChildren(marked(text, marks(), from, to, place ?? null));
      };
      box.refresh();
      const title = runs.length > 1 ? make("h4", { class: `run-${number % 6}` }, make("bdi", {}, run.name)) : null;
      const moves = whole && run.threshold !== null;
      return make("div", { class: "running" }, title, moves ? sliderOf(number) : null, box);
    });
    return make("div", { class: "runnings" }, ...panels, noteOf(finding));
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
    const [first] = finding.differences ?? [];
    if (first) return `${first[0]}: ${plain(first[1])} → ${plain(first[2])}`;
    const side = finding.expected ?? finding.got;
    if (side !== undefined) {
      return typeof side === "object" && side !== null ? Object.values(side).filter((one) => typeof one === "string").slice(0, 3).join(" · ") : plain(side);
    }
    const text = data.texts[finding.text ?? -1] ?? "";
    if (!("at" in finding)) return finding.note ?? text.slice(0, 80);
    const before = text.slice(Math.max(0, finding.at - 34), finding.at);
    return `…${before} ▏${text.slice(finding.at, finding.at + 34)}…`;
  }

  /** The finding as it stands on paper, without the whole text. */
  function printed(finding) {
    const text = data.texts[finding.text ?? -1] ?? "";
    const near = finding.at ?? 0;
    const around = make("p", { class: "text", dir: "auto" });
    const [from, to] = [Math.max(0, near - 160), Math.min(text.length, near + 160)];
    around.append(marked(text, finding.marks, from, to, finding.at ?? null));
    const body = isStructured(finding) ? fieldsTable(finding) : around;
    return make("div", { class: "piece" }, headOf(finding), body, noteOf(finding));
  }

  const detail = (finding) => [headOf(finding), isStructured(finding) ? structured(finding) : running(finding)];
  return { chip, detail, groupsOf, kindName, plain, printed, snippet };
};

/* The list of mistakes with its filters, one mistake in detail, sliders and keys. */
"use strict";

(() => {
  const PAGE = 100;
  const AROUND = 5000;
  const PRINTED = 200;
  const { WORD, make, marked, marksAt } = texts;
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  const runs = data.runs ?? [];
  const findings = data.findings ?? [];
  const levels = runs.map((run) => run.threshold);
  const charts = chartsOf(data.figures, levels);
  const unitKey = (id, repeat) => `${repeat} ${id}`;
  const units = runs.map((run) => new Map(run.units.map((u) => [unitKey(u.id, u.repeat), u])));

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    charts.redraw();
  }

  const isDark = () =>
    (document.documentElement.dataset.theme ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  // ---- one mistake in detail ------------------------------------------------------------------

  const chip = (text, name = "") => make("span", { class: `chip ${name}` }, make("bdi", {}, text));
  const kindName = (kind) => (Object.hasOwn(WORD, kind) ? kind : "other");

  function headOf(finding) {
    const group = units[finding.run].get(unitKey(finding.unit, finding.repeat))?.group ?? [];
    const sure = finding.confidence ?? null;
    return make(
      "header",
      {},
      chip(finding.kind, kindName(finding.kind)),
      runs.length > 1 ? chip(runs[finding.run].name, `run-${finding.run}`) : null,
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
        element.lastChild.append(make("span", { class: "by" }, `${by > 0 ? "+" : ""}${by} ${difference[4]}`));
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
    const unit = units[finding.run].get(unitKey(finding.unit, finding.repeat));
    const text = data.texts[finding.text ?? unit?.text ?? -1] ?? "";
    const marks = "text" in finding ? finding.marks : [];
    const box = make("div", { class: "text lines", dir: "auto" });
    box.append(marked(text, marks, 0, text.length, null));
    const sides = make("div", { class: "sides" });
    const same = (one) => one.unit === finding.unit && one.repeat === finding.repeat;
    runs.forEach((run, number) => {
      const own = findings.filter((one) => one.run === number && same(one) && isStructured(one));
      if (number === finding.run) own.sort((a, b) => (b === finding) - (a === finding));
      if (runs.length > 1) sides.append(make("h4", { class: `run-${number}` }, make("bdi", {}, run.name)));
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
      const unit = units[number].get(unitKey(finding.unit, finding.repeat));
      const whole = unit !== undefined && unit.text !== null && "place" in finding;
      if (!whole && number !== finding.run) return null;
      const source = whole ? unit.text : finding.text;
      if (source === undefined) return null;
      const text = data.texts[source];
      const place = whole ? finding.place : finding.at;
      const marks = () => (whole ? marksAt(unit, run, levels[number]) : finding.marks);
      const box = make("div", { class: "text", dir: "auto", tabindex: "0" });
      box.refresh = () => {
        const from = Math.max(0, (place ?? 0) - AROUND);
        const to = Math.min(text.length, (place ?? 0) + AROUND);
        box.replaceChildren(marked(text, marks(), from, to, place));
      };
      box.refresh();
      const title = runs.length > 1 ? make("h4", { class: `run-${number}` }, make("bdi", {}, run.name)) : null;
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

  function show(finding) {
    const body = isStructured(finding) ? structured(finding) : running(finding);
    byId("detail").replaceChildren(headOf(finding), body);
    for (const box of all("#detail .running .text")) {
      const focus = box.querySelector(".focus");
      if (focus) box.scrollTop = focus.offsetTop - box.clientHeight / 2;
    }
    const quoted = document.querySelector("#detail .lines mark");
    if (quoted) quoted.parentElement.scrollTop = quoted.offsetTop - 80;
    levels.forEach((_, number) => showLevel(number));
  }

  /** Puts the sliders, the numbers beside them and the chart's line where the threshold is. */
  function showLevel(number) {
    const figure = data.figures.find((one) => one.run === number);
    if (!figure || levels[number] === null) return;
    const [f1, precision, recall] = figure.series.map((series) => {
      const after = series.points.findIndex((point) => point[0] > levels[number]);
      return series.points[after === -1 ? series.points.length - 1 : Math.max(0, after - 1)][1];
    });
    const said = `${levels[number].toFixed(3)}: F1 ${f1.toFixed(3)}, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
    for (const input of all(`input[type=range][data-run="${number}"]`)) input.value = levels[number];
    for (const output of all(`output[data-run="${number}"]`)) output.textContent = said;
    charts.moved(figure);
  }

  function setLevel(number, level) {
    levels[number] = level;
    for (const box of all("#detail .running .text")) {
      const { scrollTop } = box;
      box.refresh();
      box.scrollTop = scrollTop;
    }
    showLevel(number);
  }

  // ---- filters and the list -------------------------------------------------------------------

  const RANGES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0001];
  const rangeName = (n) => `${RANGES[n]} to ${Math.min(1, RANGES[n + 1])}`;
  const filters = new Map();
  let query = "";
  let listed = [];
  let selected = null;
  let page = 0;
  let searched = null;

  function confidenceOf(finding) {
    if ("confidence" in finding) return finding.confidence;
    if (!("probability" in finding)) return "not stated";
    return rangeName(RANGES.findLastIndex((low) => low <= Math.max(0, finding.probability)));
  }

  const groupsOf = (finding) =>
    units[finding.run].get(unitKey(finding.unit, finding.repeat))?.group ?? [];
  const groupName = ([name, value]) => `${name}: ${value}`;

  /** What a finding has under each filter; a filter holds where its value is among them. */
  const VALUES = {
    kind: (finding) => [finding.kind],
    what: (finding) => [finding.mistake ? "mistakes" : "remarks"],
    group: (finding) => groupsOf(finding).map(groupName),
    unit: (finding) => [finding.unit],
    confidence: (finding) => [confidenceOf(finding)],
    run: (finding) => [runs[finding.run].name],
    change: (finding) => finding.changes,
  };

  function searchText(finding) {
    const parts = [finding.unit, finding.kind, finding.note ?? "", data.texts[finding.text ?? -1] ?? ""];
    const fields = [finding.expected, finding.got].filter((one) => one !== undefined).map(plain);
    return [...parts, ...fields].join("\n").toLowerCase();
  }

  function refresh() {
    const wanted = query.trim().toLowerCase();
    searched ??= wanted ? findings.map(searchText) : null;
    listed = [];
    findings.forEach((finding, number) => {
      for (const [name, value] of filters) if (!VALUES[name](finding).includes(value)) return;
      if (wanted && !searched[number].includes(wanted)) return;
      listed.push(number);
    });
    listed.sort((a, b) => findings[b].mistake - findings[a].mistake);
    page = 0;
    showFilters();
    if (!listed.includes(selected)) selected = listed[0] ?? null;
    select(selected, false);
  }

  function showFilters() {
    for (const choice of all("select[data-filter]")) choice.value = filters.get(choice.dataset.filter) ?? "";
    for (const bar of all("button.bar")) {
      bar.setAttribute("aria-pressed", String(filters.get(bar.dataset.filter) === valueOf(bar)));
    }
    byId("search").value = query;
    showBars();
  }

  const valueOf = (button) =>
    button.dataset.filter === "group"
      ? groupName([button.dataset.name, button.dataset.value])
      : button.dataset.value;

  /** Bars count what the other panels' filters leave. */
  function showBars() {
    const wide = new Map();
    const counted = all("button.bar").map((bar) => {
      const { filter, name } = bar.dataset;
      const value = valueOf(bar);
      const counts = runs.map((run) => countOf(run, filter, value));
      const panel = `${filter} ${name}`;
      wide.set(panel, Math.max(1, wide.get(panel) ?? 0, ...counts.map((one) => one[1])));
      return [bar, panel, counts];
    });
    for (const [bar, panel, counts] of counted) {
      counts.forEach(([shown], run) => {
        const width = `${(100 * shown) / wide.get(panel)}%`;
        bar.querySelector(`rect[data-run="${run}"]`).setAttribute("width", width);
        bar.querySelector(`.number[data-run="${run}"]`).textContent = shown.toLocaleString("en");
      });
    }
  }

  /** How many mistakes of the run a bar stands for: under the other filters, and in all. */
  function countOf(run, filter, value) {
    let shown = 0;
    let whole = 0;
    const kind = filter === "kind" ? null : filters.get("kind");
    const group = filter === "group" ? null : filters.get("group");
    const inRun = !filters.has("run") || filters.get("run") === run.name;
    for (const [itsKind, mistake, count, pairs] of run.counts) {
      const names = pairs.map(groupName);
      if (filter === "kind" ? itsKind !== value : !mistake || !names.includes(value)) continue;
      whole += count;
      if (inRun && (!kind || kind === itsKind) && (!group || names.includes(group))) shown += count;
    }
    return [shown, whole];
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

  function row(number) {
    const finding = findings[number];
    const sure = "probability" in finding ? finding.probability.toFixed(2) : (finding.confidence ?? "");
    const link = make(
      "a",
      { href: `#finding=${number}`, "data-number": number },
      chip(finding.kind, kindName(finding.kind)),
      runs.length > 1 ? make("i", { class: `swatch run-${finding.run}`, title: runs[finding.run].name }) : null,
      make("span", { class: "unit" }, make("bdi", {}, finding.unit)),
      make("span", { class: "sure soft" }, sure),
      make("span", { class: "snippet", dir: "auto" }, snippet(finding)),
    );
    if (number === selected) link.setAttribute("aria-current", "true");
    return make("li", {}, link);
  }

  function showList() {
    const first = page * PAGE;
    byId("list").replaceChildren(...listed.slice(first, first + PAGE).map(row));
    byId("list").start = first + 1;
    const remarks = listed.filter((number) => !findings[number].mistake).length;
    const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
    const shown = [counted(listed.length - remarks, "mistake")];
    if (remarks) shown.push(counted(remarks, "remark"));
    const rest = listed.length < findings.length ? ` of ${findings.length.toLocaleString("en")} in all` : "";
    byId("count").textContent = shown.join(" and ") + rest;
    const pages = Math.ceil(listed.length / PAGE);
    const turn = (to, text) => {
      const button = make("button", { type: "button", class: "quiet" }, text);
      button.disabled = to < 0 || to >= pages;
      button.addEventListener("click", () => {
        page = to;
        showList();
      });
      return button;
    };
    const where = `${first + 1} to ${Math.min(first + PAGE, listed.length)}`;
    byId("pages").replaceChildren(
      ...(pages > 1 ? [turn(page - 1, "Earlier"), make("span", { class: "soft" }, where), turn(page + 1, "Later")] : []),
    );
  }

  function select(number, follow) {
    selected = number;
    const place = listed.indexOf(number);
    if (place >= 0) page = Math.floor(place / PAGE);
    showList();
    if (number === null) {
      byId("detail").replaceChildren(make("p", { class: "soft" }, "Nothing to show."));
    } else show(findings[number]);
    scrollList();
    byId("previous").disabled = place <= 0;
    byId("next").disabled = place < 0 || place >= listed.length - 1;
    if (follow) remember();
  }

  /** Brings the current row into view inside the list; the page itself stays where it is. */
  function scrollList() {
    const list = byId("list");
    const current = list.querySelector("[aria-current]");
    if (!current) return;
    const top = current.offsetTop - list.offsetTop;
    const hidden = top + current.offsetHeight - list.clientHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (hidden > list.scrollTop) list.scrollTop = hidden;
  }

  function step(by) {
    const place = listed.indexOf(selected) + by;
    if (place < 0 || place >= listed.length) return;
    select(listed[place], true);
    byId("detail").scrollIntoView({ block: "nearest" });
  }

  /** Keeps filters and selection in the address, so that what is seen can be linked to. */
  function remember() {
    const parts = new URLSearchParams(filters);
    if (query) parts.set("search", query);
    if (selected !== null) parts.set("finding", selected);
    history.replaceState(null, "", `#${parts}`);
  }

  function follow() {
    const address = location.hash.slice(1);
    if (!address.includes("=")) return;
    const parts = new URLSearchParams(address);
    const number = Number(parts.get("finding") ?? Number.NaN);
    const known = Number.isInteger(number) && number in findings;
    if (known && listed.includes(number) && parts.size === 1) {
      select(number, true);
      return;
    }
    filters.clear();
    for (const name of Object.keys(VALUES)) if (parts.has(name)) filters.set(name, parts.get(name));
    query = parts.get("search") ?? "";
    if (known) selected = number;
    refresh();
    byId("mistakes").scrollIntoView();
  }

  function setFilter(name, value) {
    if (value === "" || value === undefined) filters.delete(name);
    else filters.set(name, value);
    refresh();
    remember();
  }

  function clear() {
    filters.clear();
    query = "";
    refresh();
    remember();
  }

  /** The choices of every filter, from what the findings have. */
  function fillChoices() {
    for (const choice of all("select[data-filter]")) {
      const name = choice.dataset.filter;
      const found = new Set(findings.flatMap(VALUES[name]));
      const own = [...found].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      choice.replaceChildren(make("option", { value: "" }, "all"));
      choice.append(...own.map((value) => make("option", { value }, value)));
      choice.parentElement.hidden = own.length < 2;
    }
  }

  // ---- events ---------------------------------------------------------------------------------

  const KEYS = new Map([
    ["j", () => step(1)],
    ["n", () => step(1)],
    ["k", () => step(-1)],
    ["p", () => step(-1)],
    ["/", () => byId("search").focus()],
    ["Escape", clear],
  ]);

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input[type=search], select, textarea");
    if (typing && event.key !== "Escape") return;
    if (typing) event.target.blur();
    const work = KEYS.get(event.key);
    if (!work) return;
    event.preventDefault();
    work();
  }

  function onClick(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const { filter, level, run } = button.dataset;
    if (filter) {
      const value = valueOf(button);
      setFilter(filter, filters.get(filter) === value ? "" : value);
      if (!button.matches(".bar")) byId("mistakes").scrollIntoView();
    } else if (level !== undefined) setLevel(Number(run), Number(level));
    else if ("more" in button.dataset) {
      button.parentElement.querySelectorAll("li.more").forEach((one) => (one.hidden = false));
      button.remove();
    }
  }

  function onInput(event) {
    const { target } = event;
    if (target.matches("input[type=range]")) setLevel(Number(target.dataset.run), Number(target.value));
    else if (target.id === "search") {
      query = target.value;
      refresh();
      remember();
    } else if (target.matches("select[data-filter]")) setFilter(target.dataset.filter, target.value);
  }

  let shownTheme;

  /** On paper there are no clicks: the first mistakes of the list are laid out one by one. */
  function layOut() {
    shownTheme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    charts.drawAll();
    if (!byId("printed")) return;
    const pieces = listed.slice(0, PRINTED).map((number) => {
      const finding = findings[number];
      const text = data.texts[finding.text ?? -1] ?? "";
      const near = finding.at ?? 0;
      const around = make("p", { class: "text", dir: "auto" });
      around.append(marked(text, finding.marks, Math.max(0, near - 160), Math.min(text.length, near + 160), finding.at ?? null));
      return make("div", { class: "piece" }, headOf(finding), isStructured(finding) ? fieldsTable(finding) : around, noteOf(finding));
    });
    const rest = listed.length - pieces.length;
    if (rest > 0) pieces.push(make("p", {}, `${rest} more are not printed.`));
    byId("printed").replaceChildren(...pieces);
  }

  function takeUp() {
    byId("printed")?.replaceChildren();
    if (shownTheme === undefined) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = shownTheme;
    charts.redraw();
  }

  function start() {
    byId("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", charts.redraw);
    addEventListener("beforeprint", layOut);
    addEventListener("afterprint", takeUp);
    charts.watch();
    if (!byId("mistakes")) return;
    document.addEventListener("click", onClick);
    document.addEventListener("input", onInput);
    document.addEventListener("keydown", onKey);
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").addEventListener("reset", (event) => {
      event.preventDefault();
      clear();
    });
    byId("next").addEventListener("click", () => step(1));
    byId("previous").addEventListener("click", () => step(-1));
    addEventListener("hashchange", follow);
    fillChoices();
    refresh();
    follow();
    levels.forEach((_, number) => showLevel(number));
  }

  start();
})();

/* The list of mistakes with its filters, one mistake in detail, sliders and keys. */
"use strict";

(() => {
  const PAGE = 100;
  const PRINTED = 200;
  const { make } = texts;
  const data = texts.unpack(JSON.parse(document.getElementById("data").textContent));
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const { runs, findings } = data;
  const levels = runs.map((run) => run.threshold);
  const charts = chartsOf(data.figures, levels);
  const truth = truthOf(data);
  const { chip, detail, excerptOf, groupsOf, isCompared, kindName, plain, printed, snippet } = mistakesOf(data, levels, truth, settle);

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    charts.redraw();
  }

  const isDark = () =>
    (document.documentElement.dataset.theme ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  // ---- one mistake in detail ------------------------------------------------------------------

  function show(finding) {
    byId("detail").replaceChildren(...detail(finding));
    settle();
  }

  /** Scrolls each text to the place it is shown for, and puts the sliders where they belong. */
  function settle() {
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
    const figure = data.figures.find(({ run }) => run === number);
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
  const COARSE = ["kind", "group", "run"];
  const filters = new Map();
  const widest = new Map();
  let query = "";
  let listed = [];
  let selected = null;
  let page = 0;
  let searched = null;
  let part = 0; // the group of comparable runs that is shown below the verdicts
  const isShown = (finding) => runs[finding.run].group === part;

  function confidenceOf(finding) {
    if ("confidence" in finding) return finding.confidence;
    if (!("probability" in finding)) return "not stated";
    return rangeName(RANGES.findLastIndex((low) => low <= Math.max(0, finding.probability)));
  }

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
    marked: (finding) => [truth.NAMES.get(truth.verdictOf(finding)) ?? "not marked"],
  };

  const SURE = new Map([["high", 0.9], ["medium", 0.6], ["low", 0.3]]);

  /** How sure the system was of a mistake; for what it missed, how sure that nothing is there. */
  function sureness(finding) {
    if ("confidence" in finding) return SURE.get(finding.confidence) ?? 0;
    if (!("probability" in finding)) return -1;
    return finding.kind === "missed" ? 1 - finding.probability : finding.probability;
  }

  // Mistakes before remarks, then the most confident first: those are the worst, or not mistakes.
  const sure = findings.map(sureness);
  const order = findings.map((_, number) => number);
  order.sort((a, b) => findings[b].mistake - findings[a].mistake || sure[b] - sure[a] || a - b);

  function searchText(finding) {
    const parts = [finding.unit, finding.kind, finding.note ?? "", excerptOf(finding)];
    const fields = [finding.expected, finding.got].filter((side) => side !== undefined).map(plain);
    return [...parts, ...fields].join("\n").toLowerCase();
  }

  /** The names of the filters, search included, that the finding does not pass. */
  function failing(finding, number, wanted) {
    const failed = [];
    for (const [name, value] of filters) if (!VALUES[name](finding).includes(value)) failed.push(name);
    if (wanted && !searched[number].includes(wanted)) failed.push("search");
    return failed;
  }

  function refresh() {
    const wanted = query.trim().toLowerCase();
    searched ??= wanted ? findings.map(searchText) : null;
    listed = [];
    const tally = new Map();
    order.forEach((number) => {
      const finding = findings[number];
      if (!isShown(finding)) return;
      const failed = failing(finding, number, wanted);
      if (!failed.length) listed.push(number);
      if (failed.length < 2) count(tally, finding.run, failed[0], barValues(finding), 1);
    });
    if (!wanted && [...filters.keys()].every((name) => COARSE.includes(name))) countAll(tally);
    showBars(tally);
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
  }

  const valueOf = (button) =>
    button.dataset.filter === "group"
      ? groupName([button.dataset.name, button.dataset.value])
      : button.dataset.value;

  /** What a finding counts for among the bars: remarks only in their kind. */
  function barValues(finding) {
    const kind = [["kind", finding.kind]];
    if (!finding.mistake) return kind;
    return [...kind, ["unit", finding.unit], ...groupsOf(finding).map((pair) => ["group", groupName(pair)])];
  }

  /** Adds to the bars; one filter that fails still leaves the bars of its own panel. */
  function count(tally, run, failed, values, weight) {
    for (const [filter, value] of values) {
      if (failed !== undefined && failed !== filter) continue;
      const key = `${run} ${filter} ${value}`;
      tally.set(key, (tally.get(key) ?? 0) + weight);
    }
  }

  /** Kinds and groups again, from the true numbers: the record may keep but some findings. */
  function countAll(tally) {
    for (const key of tally.keys()) if (!/^\d+ unit /.test(key)) tally.delete(key);
    runs.forEach((run, number) => {
      for (const [kind, mistake, weight, pairs] of run.counts) {
        const values = [["kind", kind], ...pairs.map((pair) => ["group", groupName(pair)])];
        const has = new Map([["kind", [kind]], ["run", [run.name]], ["group", pairs.map(groupName)]]);
        const failed = [...filters].filter(([name, value]) => !has.get(name).includes(value));
        if (failed.length < 2) count(tally, number, failed[0]?.[0], mistake ? values : values.slice(0, 1), weight);
      }
    });
  }

  /** Bars are as long as what they count, next to the longest of their panel without filters. */
  function showBars(tally) {
    for (const panel of all(`[data-of="${part}"] .bars`)) {
      const counts = [...panel.querySelectorAll("button.bar")].map((bar) =>
        runs.map((_, run) => tally.get(`${run} ${bar.dataset.filter} ${valueOf(bar)}`) ?? 0),
      );
      if (!widest.has(panel)) widest.set(panel, Math.max(1, ...counts.flat()));
      panel.querySelectorAll("button.bar").forEach((bar, place) => {
        counts[place].forEach((shown, run) => {
          if (runs[run].group !== part) return;
          const width = `${Math.min(100, (100 * shown) / widest.get(panel))}%`;
          bar.querySelector(`rect[data-run="${run}"]`).setAttribute("width", width);
          bar.querySelector(`.number[data-run="${run}"]`).textContent = shown.toLocaleString("en");
        });
      });
    }
  }

  function row(number) {
    const finding = findings[number];
    const sure = "probability" in finding ? finding.probability.toFixed(2) : (finding.confidence ?? "");
    const link = make(
      "a",
      { href: `#finding=${number}`, "data-number": number, tabindex: number === selected ? 0 : -1 },
      chip(finding.kind, kindName(finding.kind)),
      isCompared(finding.run) ? make("i", { class: `swatch ${runs[finding.run].color}`, title: runs[finding.run].name }) : null,
      make("span", { class: "unit" }, make("bdi", {}, finding.unit)),
      make("span", { class: "sure soft" }, ...marksOf(finding), sure),
      make("span", { class: "snippet", dir: "auto" }, snippet(finding)),
    );
    if (number === selected) link.setAttribute("aria-current", "true");
    return make("li", {}, link);
  }

  const marksOf = (finding) => {
    const verdict = truth.verdictOf(finding);
    return verdict ? [make("span", { class: "verdict", title: truth.NAMES.get(verdict) }, verdict === "wrong" ? "✗ truth " : "? ")] : [];
  };

  /** Marks the mistake that is shown and says what that makes of the score. */
  function judge(verdict) {
    if (selected === null) return;
    truth.toggle(findings[selected], verdict);
    showMarks();
    showList();
    for (const button of all("#detail [data-verdict]")) {
      button.setAttribute("aria-pressed", String(truth.verdictOf(findings[selected]) === button.dataset.verdict));
    }
  }

  function showMarks() {
    const sentences = truth.sentences();
    byId("marked").textContent = sentences.join("; ");
    byId("export").hidden = !sentences.length;
    fillChoices("marked");
  }

  function exportMarks() {
    for (const [name, content] of truth.files()) {
      const address = URL.createObjectURL(new Blob([content], { type: "application/json" }));
      make("a", { href: address, download: name }).click();
      URL.revokeObjectURL(address);
    }
  }

  function showList() {
    const first = page * PAGE;
    byId("list").replaceChildren(...listed.slice(first, first + PAGE).map(row));
    byId("list").start = first + 1;
    const remarks = listed.filter((number) => !findings[number].mistake).length;
    const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
    const shown = [counted(listed.length - remarks, "mistake")];
    if (remarks) shown.push(counted(remarks, "remark"));
    const whole = findings.filter(isShown).length;
    const rest = listed.length < whole ? ` of ${whole.toLocaleString("en")} in all` : "";
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
  function remember(step = "replaceState") {
    const parts = new URLSearchParams(filters);
    if (query) parts.set("search", query);
    if (selected !== null) parts.set("finding", selected);
    if (part) parts.set("part", part);
    history[step](seen(), "", `#${parts}`);
  }

  const seen = () => ({ filters: [...filters], query, selected, part });

  /** Puts back what was seen before a filter was set: Back undoes it. */
  function restore(before) {
    filters.clear();
    for (const [name, value] of before.filters) filters.set(name, value);
    ({ query, selected } = before);
    showPart(before.part);
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
    showPart(known ? runs[findings[number].run].group : Number(parts.get("part") ?? 0));
    byId("mistakes").scrollIntoView();
  }

  function setFilter(name, value) {
    if (value === "" || value === undefined) filters.delete(name);
    else filters.set(name, value);
    refresh();
    remember("pushState");
  }

  function clear() {
    filters.clear();
    query = "";
    refresh();
    remember("pushState");
  }

  /** Shows one group of comparable runs; filters stay where they still apply. */
  function showPart(number) {
    part = runs.some(({ group }) => group === number) ? number : 0;
    for (const element of all("[data-of]")) element.hidden = Number(element.dataset.of) !== part;
    for (const button of all("[data-part]")) button.setAttribute("aria-pressed", String(Number(button.dataset.part) === part));
    fillChoices();
    refresh();
  }

  /** The choices of every filter, from what the findings have. */
  function fillChoices(only) {
    for (const choice of all("select[data-filter]")) {
      const name = choice.dataset.filter;
      if (only && only !== name) continue;
      const found = new Set(findings.filter(isShown).flatMap(VALUES[name]));
      if (!only && filters.has(name) && !found.has(filters.get(name))) filters.delete(name);
      const sorted = [...found].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      choice.replaceChildren(make("option", { value: "" }, "all"));
      choice.append(...sorted.map((value) => make("option", { value }, value)));
      choice.parentElement.hidden = sorted.length < 2;
      choice.value = filters.get(name) ?? "";
    }
  }

  // ---- events ---------------------------------------------------------------------------------

  const KEYS = new Map([
    ["j", () => step(1)],
    ["n", () => step(1)],
    ["k", () => step(-1)],
    ["p", () => step(-1)],
    ["/", () => byId("search").focus()],
    ["w", () => judge("wrong")],
    ["u", () => judge("unclear")],
    ["Escape", clear],
  ]);

  // In the list, of which only the current row is reached by Tab.
  const ARROWS = new Map([
    ["ArrowDown", () => step(1)],
    ["ArrowUp", () => step(-1)],
  ]);

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input[type=search], select, textarea");
    if (typing && event.key !== "Escape") return;
    if (typing) event.target.blur();
    const inList = event.target.closest("#list") !== null;
    const work = KEYS.get(event.key) ?? (inList ? ARROWS.get(event.key) : undefined);
    if (!work) return;
    event.preventDefault();
    work();
    if (inList) byId("list").querySelector("[aria-current]")?.focus();
  }

  function onClick(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const { filter, level, run, verdict } = button.dataset;
    if (verdict) judge(verdict);
    else if ("part" in button.dataset) {
      showPart(Number(button.dataset.part));
      remember("pushState");
    }
    else if (filter) {
      const value = valueOf(button);
      setFilter(filter, filters.get(filter) === value ? "" : value);
      if (!button.matches(".bar")) byId("mistakes").scrollIntoView();
    } else if (level !== undefined) setLevel(Number(run), Number(level));
    else if ("more" in button.dataset) {
      button.parentElement.querySelectorAll("li.more").forEach((row) => (row.hidden = false));
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
    for (const element of all("[data-of]")) element.hidden = false;
    charts.drawAll();
    if (!byId("printed")) return;
    const pieces = listed.slice(0, PRINTED).map((number) => printed(findings[number]));
    const rest = listed.length - pieces.length;
    if (rest > 0) pieces.push(make("p", {}, `${rest} more are not printed.`));
    byId("printed").replaceChildren(...pieces);
  }

  function takeUp() {
    byId("printed")?.replaceChildren();
    for (const element of all("[data-of]")) element.hidden = Number(element.dataset.of) !== part;
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
    byId("export").addEventListener("click", exportMarks);
    addEventListener("hashchange", () => history.state ?? follow());
    addEventListener("popstate", (event) => event.state && restore(event.state));
    showPart(0);
    follow();
    showMarks();
    history.replaceState(seen(), "");
    levels.forEach((_, number) => showLevel(number));
  }

  start();
})();

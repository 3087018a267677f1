/* Elements, and texts with their marks. Texts of records become text nodes only. */
"use strict";

globalThis.texts = (() => {
  const WORD = { found: "found", invented: "invented", missed: "missed", truth: "true place" };

  /** An element with attributes and children; null children are left out. */
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  /** The data of a page with its marks and findings as objects; what is missing has no name. */
  function unpack(data) {
    const marks = (rows) => rows.map(([start, role, probability, end, truth]) => [start, end ?? start, data.roles[role], probability ?? null, truth ?? null]);
    for (const unit of data.runs.flatMap((run) => run.units)) unit.marks = marks(unit.marks);
    data.findings = data.findings.map((row) => {
      const finding = {};
      row.forEach((value, column) => {
        if (value !== null) finding[data.columns[column]] = value;
      });
      if (finding.marks) finding.marks = marks(finding.marks);
      return finding;
    });
    return data;
  }

  /** Whether two places lie at most so many characters apart; some characters count as two here. */
  function within(text, one, other, tolerance) {
    const [from, to] = one < other ? [one, other] : [other, one];
    if (to - from <= tolerance) return true;
    return to - from <= 2 * tolerance && Array.from(text.substring(from, to)).length <= tolerance;
  }

  /** The unit's marks if everything above `level` were predicted; pairs as the scorer does. */
  function marksAt(unit, run, level, text) {
    if (level === run.threshold) return unit.marks;
    const near = (truth, start) => within(text, truth, start, run.tolerance);
    const truths = [];
    const predicted = [];
    const marks = [];
    for (const mark of unit.marks) {
      const [start, , role, probability, truth] = mark;
      if (role === "missed") truths.push(start);
      else if (["found", "invented", "candidate"].includes(role)) {
        if (role === "found") truths.push(truth ?? start);
        if (probability === null ? role !== "candidate" : probability > level) predicted.push(mark);
        else marks.push([start, start, "candidate", probability, null]);
      } else marks.push(mark);
    }
    truths.sort((a, b) => a - b);
    predicted.sort((a, b) => a[0] - b[0]);
    let next = 0;
    for (const [start, end, , probability] of predicted) {
      while (next < truths.length && truths[next] < start && !near(truths[next], start)) {
        marks.push([truths[next], truths[next++], "missed", null, null]);
      }
      if (next < truths.length && near(truths[next], start)) {
        const truth = truths[next++];
        marks.push([start, end, "found", probability, truth === start ? null : truth]);
      } else marks.push([start, end, "invented", probability, null]);
    }
    truths.slice(next).forEach((truth) => marks.push([truth, truth, "missed", null, null]));
    return marks;
  }

  /** A mark between two characters: a sign, and the probability where there is one. */
  function pointElement([, , role, probability], focused) {
    const words = WORD[role] ?? role;
    const said = probability === null ? words : `${words}, probability ${probability.toFixed(3)}`;
    const label = probability === null ? "" : probability.toFixed(2).replace(/^0/, "");
    const name = `point ${Object.hasOwn(WORD, role) ? role : "other"}${focused ? " focus" : ""}`;
    return make("span", { class: name, role: "img", "aria-label": said, title: said }, label);
  }

  /** The text from `from` to `to` with its marks; the one at `focus` stands out.
      A missed place that has a probability too low to be predicted shows it. */
  function marked(text, marks, from, to, focus) {
    const points = new Map();
    const candidates = new Map(marks.filter((mark) => mark[2] === "candidate").map((mark) => [mark[0], mark[3]]));
    const stretches = [];
    const cuts = new Set([from, to]);
    if (focus !== null) cuts.add(focus);
    const addPoint = (mark) => {
      cuts.add(mark[0]);
      points.set(mark[0], [...(points.get(mark[0]) ?? []), mark]);
    };
    for (const mark of marks) {
      const [start, end, role, , truth] = mark;
      if (role === "candidate" || end < from || start > to) continue;
      if (start === end) addPoint([start, end, role, mark[3] ?? candidates.get(start) ?? null]);
      else {
        stretches.push(mark);
        cuts.add(Math.max(start, from)).add(Math.min(end, to));
      }
      if (truth !== null && truth >= from && truth <= to) {
        addPoint([truth, truth, "truth", null, null]);
      }
    }
    const box = document.createDocumentFragment();
    const places = [...cuts].sort((a, b) => a - b);
    places.forEach((place, number) => {
      const seen = new Set();
      for (const mark of points.get(place) ?? []) {
        if (!seen.has(mark[2])) box.append(pointElement(mark, place === focus));
        seen.add(mark[2]);
      }
      // Where this run has no mark, a caret shows the place that the other one's is at.
      if (place === focus && !seen.size) box.append(make("span", { class: "here focus" }));
      const piece = text.slice(place, places[number + 1] ?? place);
      const around = stretches.filter(([start, end]) => start <= place && place < end);
      if (!piece) return;
      if (!around.length) return box.append(piece);
      const roles = around.map((mark) => mark[2]);
      const known = roles.filter((role) => Object.hasOwn(WORD, role) || role === "quoted");
      box.append(make("mark", { class: known.join(" ") || "other", title: roles.join(", ") }, piece));
    });
    return box;
  }

  return { WORD, make, marked, marksAt, unpack };
})();

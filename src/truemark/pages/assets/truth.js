/* What a reader holds of the truth: wrong here, or unclear. Kept by the browser, written to a file. */
"use strict";

globalThis.truthOf = (data) => {
  const { runs, findings } = data;
  const NAMES = new Map([["wrong", "the truth is wrong"], ["unclear", "unclear"]]);
  const storageName = (run) => `truemark marks ${run.id}`;
  const verdicts = runs.map((run) => new Map(stored(run)));

  const keyOf = (finding) =>
    JSON.stringify([finding.unit, finding.repeat, finding.kind, finding.character ?? finding.expected ?? finding.got ?? null]);

  /** What was kept; nothing where the browser keeps nothing for pages. */
  function stored(run) {
    try {
      return JSON.parse(localStorage.getItem(storageName(run)) ?? "[]");
    } catch {
      return [];
    }
  }

  function keep(number) {
    try {
      localStorage.setItem(storageName(runs[number]), JSON.stringify([...verdicts[number]]));
    } catch {
      // The marks stay until the page is closed.
    }
  }

  const verdictOf = (finding) => verdicts[finding.run].get(keyOf(finding));

  /** Marks a mistake; the same verdict again takes it back. */
  function toggle(finding, verdict) {
    if (!finding.mistake) return;
    const ofRun = verdicts[finding.run];
    if (ofRun.get(keyOf(finding)) === verdict) ofRun.delete(keyOf(finding));
    else ofRun.set(keyOf(finding), verdict);
    keep(finding.run);
  }

  /** How tp, fp and fn change if the system was right and the truth was not. */
  function change(finding) {
    if (finding.kind === "missed") return [0, 0, -1];
    if (["invented", "duplicate"].includes(finding.kind)) return [1, -1, 0];
    if ("expected" in finding && "got" in finding) return [1, -1, -1];
    return "expected" in finding ? [0, 0, -1] : [1, -1, 0];
  }

  function f1([tp, fp, fn], empty) {
    const precision = tp + fp ? tp / (tp + fp) : empty;
    const recall = tp + fn ? tp / (tp + fn) : empty;
    return precision + recall ? (2 * precision * recall) / (precision + recall) : 0;
  }

  const markedOf = (number) => findings.filter((finding) => finding.run === number && verdictOf(finding));

  /** A sentence for each run with marks: how many, and what F1 would be without the wrong truth. */
  function sentences() {
    return runs.flatMap((run, number) => {
      const marked = markedOf(number);
      if (!marked.length) return [];
      const counts = [...run.total];
      const wrong = marked.filter((finding) => verdictOf(finding) === "wrong");
      for (const finding of wrong) change(finding).forEach((by, place) => (counts[place] += by));
      const mistakes = findings.filter(({ run, mistake }) => run === number && mistake).length;
      const whose = runs.length > 1 ? `${run.label}: ` : "";
      const unclear = marked.length - wrong.length ? `, ${marked.length - wrong.length} of them unclear` : "";
      const score = f1(counts.map((count) => Math.max(0, count)), run.empty).toFixed(3);
      return [`${whose}${marked.length} of ${mistakes} marked${unclear}: F1 would be ${score}`];
    });
  }

  /** One file for each run with marks, as `label --from` takes it. */
  function files() {
    return runs.flatMap((run, number) => {
      const marks = markedOf(number).map((finding) => ({
        unit: finding.unit,
        kind: finding.kind,
        at: finding.character ?? null,
        verdict: verdictOf(finding),
        expected: finding.expected,
        got: finding.got,
        note: finding.note,
      }));
      if (!marks.length) return [];
      const content = JSON.stringify({ format: "truemark.marks/1", run: run.id, signature: run.signature, marks }, null, 2);
      return [[`${run.label.replace(/[^\w.-]+/g, "-").slice(0, 60)}-${run.id}.marks.json`, `${content}\n`]];
    });
  }

  return { NAMES, files, sentences, toggle, verdictOf };
};

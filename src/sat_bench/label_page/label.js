/* A talk as running text: a key or a click between two words sets or removes a sentence end. */
"use strict";

(() => {
  const { make } = texts;
  const { change, isAsked, isSeen, look, panel, start, step } = shell;
  const QUESTIONS = {
    invented: "The run ends a sentence here. Is the truth wrong?",
    missed: "The run finds no end here. Is the truth wrong?",
  };
  const LONGEST_UNBROKEN = 30;
  const LONGEST_PARAGRAPH = 400;
  const PARAGRAPH = /\n\s*\n/;

  let talk = null;
  let words = [];
  let ends = new Set();
  let indices = new Map();
  let here = -1;

  function render(state, box, content) {
    talk = state;
    here = -1;
    indices = new Map(state.ids.map((id, index) => [id, index]));
    const paragraphs = [];
    words = state.pieces.map((piece, index) => {
      const word = make("span", { class: "word" }, piece.trim());
      word.index = index;
      const isNew = !paragraphs.length || PARAGRAPH.test(piece);
      if (isNew || paragraphs.at(-1).childNodes.length > LONGEST_PARAGRAPH) {
        if (!isNew) paragraphs.at(-1).classList.add("unbroken");
        paragraphs.push(make("p", { dir: "auto" }));
      } else if (/^\s/.test(piece)) paragraphs.at(-1).append(" ");
      paragraphs.at(-1).append(word);
      return word;
    });
    update(content ?? { ends: [] });
    box.replaceChildren(...paragraphs);
  }

  function update(content) {
    ends = new Set(content.ends);
    words.forEach((_, index) => drawWord(index));
    if (here >= 0) showPanel();
  }

  function drawWord(index) {
    const id = talk.ids[index];
    const parts = ["word"];
    if (ends.has(id)) parts.push("end");
    if (isAsked(id) && !isSeen(id)) parts.push("asked");
    if (index === here) parts.push("caret");
    if (talk.pieces[index].length > LONGEST_UNBROKEN) parts.push("long");
    words[index].className = parts.join(" ");
  }

  /** Goes to a place; one that was sent for comes to the middle of the screen. */
  function focus(place, centred = false) {
    moveTo(indices.get(place) ?? 0, centred ? "center" : "nearest");
  }

  function moveTo(index, block = "nearest") {
    if (index < 0 || index >= words.length) return;
    const before = here;
    here = index;
    look(talk.ids[index]);
    if (before >= 0) drawWord(before);
    drawWord(index);
    const { top, bottom } = words[index].getBoundingClientRect();
    if (block === "center" || top < 110 || bottom > innerHeight - 130) {
      words[index].scrollIntoView({ block: "center", behavior: "instant" });
    }
    showPanel();
  }

  const isLast = (index) => index === words.length - 1;

  function set(index, isEnd) {
    const id = talk.ids[index];
    if (isLast(index) || ends.has(id) === isEnd) return;
    change((content) => {
      if (isEnd) ends.add(id);
      else ends.delete(id);
      content.ends = [...ends].sort((a, b) => a - b);
    });
    drawWord(index);
    if (index === here) showPanel();
  }

  const toggle = (index) => set(index, !ends.has(talk.ids[index]));

  function decide(isEnd) {
    set(here, isEnd);
    step(1);
  }

  /** Goes to the next marked or proposed place in the order of the text. */
  function jump(direction) {
    for (let index = here + direction; index >= 0 && index < words.length; index += direction) {
      if (ends.has(talk.ids[index]) || isAsked(talk.ids[index])) {
        moveTo(index);
        return;
      }
    }
  }

  // ---- the panel ------------------------------------------------------------------------------

  const button = (label, key, action, chosen = false) => {
    const element = make("button", { type: "button", class: chosen ? "chosen" : "" }, make("kbd", {}, key), ` ${label}`);
    element.addEventListener("click", action);
    return element;
  };

  function showPanel() {
    const id = talk.ids[here];
    const given = talk.given[id];
    const isEnd = ends.has(id);
    const chips = talk.systems.map((name, number) => {
      const p = given?.[number] ?? null;
      const shown = p === null ? "–" : p.toFixed(2).replace(/^0/, "");
      return make("span", { class: "chip" }, make("bdi", {}, name), ` ${shown}`);
    });
    panel(
      make("strong", {}, isLast(here) ? "the end of the text" : (QUESTIONS[talk.kinds[id]] ?? (isEnd ? "a sentence ends here" : "no end here"))),
      make("span", { class: "given" }, ...(given ? chips : [])),
      make(
        "span",
        { class: "decide" },
        button("End", "y", () => decide(true), isEnd),
        button("No end", "x", () => decide(false), !isEnd),
        button("Previous", "p", () => step(-1)),
        button("Next", "n", () => step(1)),
      ),
    );
  }

  const KEYS = {
    n: () => step(1),
    p: () => step(-1),
    y: () => decide(true),
    x: () => decide(false),
    " ": () => toggle(here),
    Enter: () => toggle(here),
    ArrowRight: () => moveTo(here + 1),
    ArrowLeft: () => moveTo(here - 1),
    l: () => moveTo(here + 1),
    h: () => moveTo(here - 1),
    ArrowDown: () => jump(1),
    ArrowUp: () => jump(-1),
    Home: () => moveTo(0),
    End: () => moveTo(words.length - 1),
  };

  function key(event) {
    if (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key)) return false;
    if (!Object.hasOwn(KEYS, event.key)) return false;
    KEYS[event.key]();
    return true;
  }

  /** A click sets or removes the end that is nearer: before the word or after it. */
  document.getElementById("work").addEventListener("click", (event) => {
    if (talk.drafting || getSelection().toString()) return;
    const index = clickedIndex(event);
    if (index === null) return;
    moveTo(index);
    toggle(index);
  });

  function clickedIndex({ target, clientX, clientY }) {
    const word = target.closest(".word");
    if (!word) {
      // Between two words: the space has no element of its own, but follows one.
      const before = document.caretPositionFromPoint?.(clientX, clientY)?.offsetNode.previousSibling;
      return before?.index ?? null;
    }
    const { left, width } = word.getBoundingClientRect();
    const isAfter = clientX > left + width / 2 === (getComputedStyle(word).direction === "ltr");
    return isAfter || word.index === 0 ? word.index : word.index - 1;
  }

  start({
    at: () => talk.ids[here] ?? null,
    focus,
    key,
    keys: [
      ["n p", "next, previous doubtful place"],
      ["y x", "end, no end; then the next place"],
      ["Space", "set or remove an end"],
      ["→ ←", "next, previous word"],
      ["↓ ↑", "next, previous end in the text"],
    ],
    render,
    update,
  });
})();

function (sheet) {
  // One pair at a time. Offsets of a label count code points of the document, as Python does; JavaScript and the
  // selection count UTF-16 units of the passage: `points` and `units` go from one to the other.
  "use strict";
  const LABELS = ["relevant", "partial", "irrelevant"], key = "ragkit-sheet-" + sheet.key;
  const pairs = sheet.pairs.map(([query_id, doc_id, start, end, query, text]) => ({query_id, doc_id, start, end, query, text}));
  const $ = id => document.getElementById(id), passage = $("passage"), reason = $("reason"), buttons = [...document.querySelectorAll("[data-label]")];
  let labels = {}, at = 0, keeps = true;

  // --- what is kept ---

  function load() {
    labels = structuredClone(sheet.labels);
    try {
      const kept = JSON.parse(localStorage.getItem(key) || "null");
      if (kept) { labels = kept.labels; at = Math.min(Math.max(kept.at | 0, 0), pairs.length - 1); }
    } catch (error) { keeps = false; }
  }
  function save() {
    try { localStorage.setItem(key, JSON.stringify({labels, at})); keeps = true; } catch (error) { keeps = false; }
  }
  const now = () => labels[at] || {label: "", span: null, reason: ""};
  function change(what) {
    const next = {...now(), ...what};
    if (next.label || next.span || next.reason) labels[at] = next; else delete labels[at];
    save();
    draw();
  }

  // --- offsets ---

  const points = (text, units) => Array.from(text.slice(0, units)).length;
  const units = (text, points) => Array.from(text).slice(0, points).join("").length;
  const high = unit => unit >= 0xd800 && unit < 0xdc00, low = unit => unit >= 0xdc00 && unit < 0xe000;
  const splits = (text, place) => high(text.charCodeAt(place - 1)) && low(text.charCodeAt(place));

  /** The selected part of the passage, in UTF-16 units, without white space at its ends; null where there is none. */
  function selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const chosen = selection.getRangeAt(0), whole = document.createRange();
    whole.selectNodeContents(passage);
    if (chosen.compareBoundaryPoints(Range.END_TO_START, whole) >= 0 || chosen.compareBoundaryPoints(Range.START_TO_END, whole) <= 0) return null;
    const before = node => {  // text of the passage before a boundary of the selection
      const range = whole.cloneRange();
      range.setEnd(...node);
      return range.toString().length;
    };
    const {text} = pairs[at];
    let begin = chosen.compareBoundaryPoints(Range.START_TO_START, whole) <= 0 ? 0 : before([chosen.startContainer, chosen.startOffset]);
    let end = chosen.compareBoundaryPoints(Range.END_TO_END, whole) >= 0 ? text.length : before([chosen.endContainer, chosen.endOffset]);
    if (splits(text, begin)) begin--;
    if (splits(text, end)) end++;
    const words = text.slice(begin, end);
    begin += words.length - words.trimStart().length;
    end -= words.length - words.trimEnd().length;
    return begin < end ? [begin, end] : null;
  }

  // --- what is shown ---

  function say(text, refused) {
    $("status").textContent = text;
    $("status").classList.toggle("refused", Boolean(refused));
  }
  const done = () => pairs.filter((pair, place) => labels[place] && labels[place].label).length;
  function progress() {
    const count = done();
    $("count").textContent = `pair ${at + 1} of ${pairs.length}, ${count} labelled` + (keeps ? "" : "; this browser keeps nothing, export before you close");
    $("progress").max = pairs.length;
    $("progress").value = count;
  }
  function draw() {
    const pair = pairs[at], {label, span} = now();
    $("query").textContent = pair.query;
    $("query-id").textContent = pair.query_id;
    $("doc-id").textContent = `${pair.doc_id}, ${pair.start}–${pair.end}`;
    if (span) {
      const [begin, end] = span.map(place => units(pair.text, place - pair.start)), mark = document.createElement("mark");
      mark.textContent = pair.text.slice(begin, end);
      passage.replaceChildren(pair.text.slice(0, begin), mark, pair.text.slice(end));
    } else {
      passage.textContent = pair.text;
    }
    reason.value = now().reason;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.label === label));
    progress();
  }
  function go(place) {
    if (place < 0 || place >= pairs.length) { say(place < 0 ? "This is the first pair." : "This is the last pair."); return; }
    at = place;
    save();
    draw();
    passage.scrollTop = 0;
    getSelection().removeAllRanges();
    if (document.activeElement === passage) passage.blur();
    say(now().label ? `Labelled ${now().label}.` : "");
  }
  function unlabelled() {
    for (let step = 1; step <= pairs.length; step++) {
      const place = (at + step) % pairs.length;
      if (!(labels[place] && labels[place].label)) { go(place); return; }
    }
    say("Every pair has a label. Export them.");
  }

  // --- what is done ---

  function give(label) {
    if (label === "relevant" && !now().span) {
      say("Relevant needs its answer: select the words that answer, press s, then r.", true);
      return;
    }
    change(label === "irrelevant" ? {label, span: null} : {label});
    say(`Labelled ${label}.`);
  }
  function mark() {
    const range = selected(), {text, start} = pairs[at];
    if (!range) { say("Nothing is selected in the passage: select the words that answer, then press s.", true); return; }
    const taken = now().label === "irrelevant";
    change({span: range.map(place => start + points(text, place)), ...(taken ? {label: ""} : {})});
    say(taken ? "Marked. It is no longer irrelevant: press r or p." : now().label ? "Marked." : "Marked. Press r or p.");
  }
  function withdraw() { change({label: "", span: null}); say("Withdrawn."); }

  function exported() {
    return pairs.flatMap(({query_id, doc_id, start, end}, place) => {
      const {label, span, reason} = labels[place] || {};
      return label ? [JSON.stringify({query_id, doc_id, start, end, label, span, reason}) + "\n"] : [];
    });
  }
  function download() {
    const lines = exported();
    if (!lines.length) { say("There is no label to export yet.", true); return; }
    const link = document.createElement("a"), url = URL.createObjectURL(new Blob(lines, {type: "application/x-ndjson"}));
    link.href = url;
    link.download = `labels-${sheet.key}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say(`Exported ${lines.length} of ${pairs.length}.`);
  }

  /** What is wrong with a line of an export; "" where nothing is. */
  function fault(line) {
    const whole = value => Number.isInteger(value);
    if (!LABELS.includes(line.label)) return "no label that this sheet knows";
    if (line.span == null) return line.label === "relevant" ? "relevant without a span" : "";
    if (line.label === "irrelevant") return "irrelevant with a span";
    const right = Array.isArray(line.span) && line.span.length === 2 && line.span.every(whole)
      && line.start <= line.span[0] && line.span[0] < line.span[1] && line.span[1] <= line.end;
    return right ? "" : "a span outside of what was read";
  }
  function take(text) {
    const name = one => JSON.stringify([one.query_id, one.doc_id, one.start, one.end]);
    const places = new Map(pairs.map((pair, place) => [name(pair), place]));
    const read = {}, lines = text.replace(/^\ufeff/, "").split("\n");
    let others = 0;
    for (let number = 0; number < lines.length; number++) {
      if (!lines[number].trim()) continue;
      let line = null;
      try { line = JSON.parse(lines[number]); } catch (error) { /* told below */ }
      const wrong = line && typeof line === "object" ? fault(line) : "not a label in JSON";
      if (wrong) { say(`Line ${number + 1}: ${wrong}. Nothing was imported.`, true); return; }
      const place = places.get(name(line));
      if (place === undefined) others++;
      else read[place] = {label: line.label, span: line.span ?? null, reason: typeof line.reason === "string" ? line.reason : ""};
    }
    Object.assign(labels, read);
    save();
    draw();
    const count = Object.keys(read).length;
    say(`Imported ${count} labels` + (others ? `; ${others} are of other sheets and were left out.` : "."), !count);
  }

  // --- by key and by mouse ---

  const help = () => $("keys").showModal();
  const into = () => {
    passage.focus();
    if (!getSelection().rangeCount || !passage.contains(getSelection().anchorNode)) getSelection().collapse(passage, 0);
  };
  const keys = {
    r: () => give("relevant"), p: () => give("partial"), i: () => give("irrelevant"), s: mark, x: withdraw,
    j: () => go(at + 1), k: () => go(at - 1), u: unlabelled, w: () => reason.focus(), t: into, "?": help
  };
  const arrows = {ArrowRight: keys.j, ArrowLeft: keys.k};
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("keys").open) return;
    const inside = document.activeElement;
    if (inside === reason) {
      if (event.key === "Enter" || event.key === "Escape") { reason.blur(); event.preventDefault(); }
      return;
    }
    if (inside === passage && event.key === "Escape") { passage.blur(); return; }
    const act = keys[event.key.toLowerCase()] || (inside === passage || event.shiftKey ? null : arrows[event.key]);
    if (act) { event.preventDefault(); act(); }
  });
  // The passage takes a caret, so that words can be selected by key, and no change.
  for (const kind of ["beforeinput", "drop", "dragstart", "paste", "cut"]) passage.addEventListener(kind, event => event.preventDefault());
  passage.addEventListener("input", draw);
  reason.addEventListener("input", () => { const written = reason.value; labels[at] = {...now(), reason: written}; save(); progress(); });
  for (const button of buttons) button.addEventListener("click", () => give(button.dataset.label));
  // A press on the button must not take the selection away.
  $("mark").addEventListener("mousedown", event => event.preventDefault());
  for (const [id, act] of Object.entries({mark, withdraw, before: keys.k, after: keys.j, unlabelled, help, export: download, import: () => $("file").click()}))
    $(id).addEventListener("click", act);
  $("file").addEventListener("change", async event => {
    const [file] = event.target.files;
    if (file) take(await file.text());
    event.target.value = "";
  });
  addEventListener("storage", event => { if (event.key === key) { const here = at; load(); at = here; draw(); } });

  load();
  save();
  draw();
}

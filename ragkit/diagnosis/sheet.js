function (sheet) {
  // One pair at a time. Offsets of a label count code points of the document, as Python does; JavaScript and the
  // selection count UTF-16 units of the passage: `points` and `units` go from one to the other.
  "use strict";
  const LABELS = ["relevant", "partial", "irrelevant"], key = "ragkit-sheet-" + sheet.key;
  const pairs = sheet.pairs.map(([query_id, doc_id, start, end, query, text, title]) => ({query_id, doc_id, start, end, query, text, title}));
  const $ = id => document.getElementById(id), passage = $("passage"), reason = $("reason"), buttons = [...document.querySelectorAll("[data-label]")];
  let labels = {}, saved = {}, at = 0, keeps = true, shown = "";  // saved: the lines that a file holds, by place
  let past = [], lost = null;  // of this pair: what stood before each change, and the mark that "irrelevant" took

  // --- what is kept ---

  function load() {
    labels = structuredClone(sheet.labels);
    saved = lines();
    try {
      const kept = JSON.parse(localStorage.getItem(key) || "null");
      if (kept) { labels = kept.labels; saved = kept.saved || {}; at = Math.min(Math.max(kept.at | 0, 0), pairs.length - 1); }
    } catch (error) { keeps = false; }
  }
  function save() {
    try { localStorage.setItem(key, JSON.stringify({labels, saved, at})); keeps = true; } catch (error) { keeps = false; }
  }
  const now = () => labels[at] || {label: "", span: null, reason: ""};
  function put(what) {
    const next = {...now(), ...what};
    if (next.label || next.span || next.reason) labels[at] = next; else delete labels[at];
    save();
    draw();
  }
  function change(what) {
    const {label, span} = now();
    past.push({label, span});
    put(what);
  }
  function undo() {
    if (!past.length) { say("There is nothing to undo on this pair.", true); return; }
    put(past.pop());
    say(now().label ? `Undone: it is ${now().label}.` : "Undone: it has no label.");
  }
  /** The labelled pairs as lines of an export, by place. */
  const lines = () => Object.fromEntries(pairs.flatMap(({query_id, doc_id, start, end}, place) => {
    const {label, span, reason} = labels[place] || {};
    return label ? [[place, JSON.stringify({query_id, doc_id, start, end, label, span, reason}) + "\n"]] : [];
  }));

  // --- offsets ---

  const points = (text, units) => Array.from(text.slice(0, units)).length;
  const units = (text, points) => Array.from(text).slice(0, points).join("").length;
  const high = unit => unit >= 0xd800 && unit < 0xdc00, low = unit => unit >= 0xdc00 && unit < 0xe000;
  const splits = (text, place) => high(text.charCodeAt(place - 1)) && low(text.charCodeAt(place));

  /** How many units of the passage stand before a place in its nodes. */
  function before(node, offset) {
    const range = document.createRange();
    range.selectNodeContents(passage);
    range.setEnd(node, offset);
    return range.toString().length;
  }
  /** The ends of words that begin at a place, without white space; null where there is nothing else. */
  function trimmed(words, begin) {
    begin += words.length - words.trimStart().length;
    return words.trim() ? [begin, begin + words.trim().length] : null;
  }
  /** The selected part of the passage, in UTF-16 units, without white space at its ends; null where there is none. */
  function selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const chosen = selection.getRangeAt(0), whole = document.createRange();
    whole.selectNodeContents(passage);
    if (chosen.compareBoundaryPoints(Range.END_TO_START, whole) >= 0 || chosen.compareBoundaryPoints(Range.START_TO_END, whole) <= 0) return null;
    const {text} = pairs[at];
    let begin = chosen.compareBoundaryPoints(Range.START_TO_START, whole) <= 0 ? 0 : before(chosen.startContainer, chosen.startOffset);
    let end = chosen.compareBoundaryPoints(Range.END_TO_END, whole) >= 0 ? text.length : before(chosen.endContainer, chosen.endOffset);
    if (splits(text, begin)) begin--;
    if (splits(text, end)) end++;
    return trimmed(text.slice(begin, end), begin);
  }

  // --- sentences ---

  const ROW = /^\s*(?:[|#>]|```)/, ITEM = /^\s*(?:[-*+•]|\d+[.)])\s/, indent = line => line.search(/\S|$/);

  /** Sentences, rows of a table and other lines of the passage, as [begin, end]; the sign before an item is left out. */
  function sentences() {
    const rows = pairs[at].text.split(/(?<=\n)/), blank = words => words.replace(/./gs, " ");
    const flat = rows.map((row, number) => {  // as long as the row, and without what only looks like an end of a sentence
      const next = rows[number + 1] || "";
      if (ROW.test(row)) return row.replace(/\S/g, "x");
      const wrapped = row.length > 50 && next.trim() && !ROW.test(next) && !ITEM.test(next) && indent(next) >= indent(row);
      return (wrapped ? row.replace(/\r?\n$/, blank) : row).replace(ITEM, blank).replaceAll("*", '"');
    }).join("");
    const found = new Intl.Segmenter(undefined, {granularity: "sentence"}).segment(flat);
    return [...found].map(({segment, index}) => trimmed(segment, index)).filter(Boolean);
  }
  /** Select the sentence at the caret; the next one (step 1) or the one before (-1) where one is selected already. */
  function sentence(step, extend) {
    const all = sentences(), range = selected(), selection = getSelection();
    const inside = selection.rangeCount && passage.contains(selection.focusNode);
    const caret = range ? range[0] : inside ? before(selection.focusNode, selection.focusOffset) : step > 0 ? 0 : Infinity;
    if (!all.length) return;
    const within = place => Math.min(Math.max(place, 0), all.length - 1);
    let first = within(all.findIndex(([, end]) => end > caret)), last = first;
    if (caret >= all[all.length - 1][1]) first = last = all.length - 1;
    while (range && last + 1 < all.length && all[last + 1][0] < range[1]) last++;
    if (range && range[0] === all[first][0] && range[1] === all[last][1]) {
      if (extend) last = Math.max(first, within(last + step));
      else first = last = within((step > 0 ? last : first) + step);
    }
    choose(all[first][0], all[last][1]);
  }
  function choose(begin, end) {
    const place = offset => {
      for (const child of passage.childNodes) {
        const node = child.firstChild || child;
        if (offset <= node.length) return [node, offset];
        offset -= node.length;
      }
    };
    passage.focus({preventScroll: true});
    getSelection().setBaseAndExtent(...place(begin), ...place(end));
    const words = getSelection().getRangeAt(0).getBoundingClientRect(), box = passage.getBoundingClientRect();
    if (words.bottom > box.bottom) passage.scrollTop += words.bottom - box.bottom + 8;
    else if (words.top < box.top) passage.scrollTop -= box.top - words.top + 8;
  }

  // --- what is shown ---

  function say(text, refused) {
    $("status").textContent = text;
    $("status").classList.toggle("refused", Boolean(refused));
  }
  function progress() {
    const own = lines(), count = Object.keys(own).length, changed = pairs.filter((pair, place) => own[place] !== saved[place]).length;
    $("count").textContent = `pair ${at + 1} of ${pairs.length}, ${count} labelled` + (changed ? `, ${changed} not exported` : "") + (keeps ? "" : "; this browser keeps nothing, export before you close");
    $("progress").max = pairs.length;
    $("progress").value = count;
  }
  function draw() {
    const pair = pairs[at], {label, span} = now();
    $("query").textContent = pair.query;
    $("query-id").textContent = pair.query_id;
    $("doc-id").textContent = `${pair.doc_id}, ${pair.start}–${pair.end}`;
    $("title").textContent = pair.title;
    $("titled").hidden = !pair.title;
    passage.classList.toggle("table", /^\s*\|.*\|/m.test(pair.text));
    if (shown !== (shown = JSON.stringify([at, span]))) show(pair, span);  // else the selection stays
    reason.value = now().reason;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.label === label));
    progress();
  }
  function show(pair, span) {
    if (span) {
      const [begin, end] = span.map(place => units(pair.text, place - pair.start)), mark = document.createElement("mark");
      mark.textContent = pair.text.slice(begin, end);
      passage.replaceChildren(pair.text.slice(0, begin), mark, pair.text.slice(end));
      if (document.activeElement === passage) getSelection().collapse(mark, 0);  // n goes on from here
    } else {
      passage.textContent = pair.text;
    }
  }
  function go(place) {
    if (place < 0 || place >= pairs.length) { say(place < 0 ? "This is the first pair." : "This is the last pair."); return; }
    at = place;
    past = [];
    lost = null;
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
    say("Every pair has a label. Press e to export them.");
  }

  // --- what is done ---

  function give(label) {
    const had = now().span, found = !had && label === "relevant" ? selected() : null;
    const span = label === "irrelevant" ? null : had || (found ? placed(found) : lost);
    if (label === "relevant" && !span) {
      say("Relevant needs its answer: select the words that answer (n selects a sentence), then press r.", true);
      return;
    }
    change({label, span});
    lost = span ? null : had || lost;
    say(found ? `Marked what was selected, and labelled ${label}.`
      : span && !had ? `Labelled ${label}, with the mark that was there.`
      : lost ? `Labelled ${label}. The mark comes back with r or p, until you leave the pair.`
      : `Labelled ${label}.`);
  }
  const placed = range => range.map(place => pairs[at].start + points(pairs[at].text, place));
  function mark() {
    const range = selected();
    if (!range) { say("Nothing is selected in the passage: select the words that answer, then press s.", true); return; }
    const taken = now().label === "irrelevant";
    change({span: placed(range), ...(taken ? {label: ""} : {})});
    say(taken ? "Marked. It is no longer irrelevant: press r or p." : now().label ? "Marked." : "Marked. Press r or p.");
  }
  function withdraw() {
    change({label: "", span: null});
    lost = null;
    say("Withdrawn.");
  }
  function download() {
    const own = lines(), written = Object.values(own);
    if (!written.length) { say("There is no label to export yet.", true); return; }
    const link = document.createElement("a"), url = URL.createObjectURL(new Blob(written, {type: "application/x-ndjson"}));
    link.href = url;
    link.download = `labels-${sheet.key}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    saved = own;
    save();
    progress();
    say(`Exported ${written.length} of ${pairs.length}.`);
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
    const read = {}, rows = text.replace(/^\ufeff/, "").split("\n");
    let others = 0;
    for (let number = 0; number < rows.length; number++) {
      if (!rows[number].trim()) continue;
      let line = null;
      try { line = JSON.parse(rows[number]); } catch (error) { /* told below */ }
      const wrong = line && typeof line === "object" ? fault(line) : "not a label in JSON";
      if (wrong) { say(`Line ${number + 1}: ${wrong}. Nothing was imported.`, true); return; }
      const place = places.get(name(line));
      if (place === undefined) others++;
      else read[place] = {label: line.label, span: line.span ?? null, reason: typeof line.reason === "string" ? line.reason : ""};
    }
    Object.assign(labels, read);
    const own = lines();
    for (const place of Object.keys(read)) saved[place] = own[place];
    past = [];
    lost = null;
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
    r: () => give("relevant"), p: () => give("partial"), i: () => give("irrelevant"), s: mark, x: withdraw, z: undo,
    n: event => sentence(1, event.shiftKey), b: event => sentence(-1, event.shiftKey), t: into, w: () => reason.focus(),
    j: () => go(at + 1), k: () => go(at - 1), u: unlabelled, e: download, "?": help
  };
  const arrows = {ArrowRight: keys.j, ArrowLeft: keys.k};
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("keys").open) return;
    const inside = document.activeElement;
    if (inside === reason) {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      reason.blur();
      if (event.key === "Enter") unlabelled();
      return;
    }
    if (inside === passage && event.key === "Escape") { passage.blur(); return; }
    const act = keys[event.key.toLowerCase()] || (inside === passage || event.shiftKey ? null : arrows[event.key]);
    if (act) { event.preventDefault(); act(event); }
  });
  // The passage takes a caret, so that words can be selected by key, and no change.
  for (const kind of ["beforeinput", "drop", "dragstart", "paste", "cut"]) passage.addEventListener(kind, event => event.preventDefault());
  passage.addEventListener("input", () => { shown = ""; draw(); });
  reason.addEventListener("input", () => { const written = reason.value; labels[at] = {...now(), reason: written}; save(); progress(); });
  for (const button of buttons) button.addEventListener("click", () => give(button.dataset.label));
  // A press on a button must not take the selection away.
  for (const button of [...buttons, $("mark")]) button.addEventListener("mousedown", event => event.preventDefault());
  for (const [id, act] of Object.entries({mark, withdraw, undo, before: keys.k, after: keys.j, unlabelled, help, export: download, import: () => $("file").click()}))
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

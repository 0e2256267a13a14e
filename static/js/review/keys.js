// The review page, part 5 of 5: what keys and buttons do, and the beginning of each page. Keys come from the
// page's own map; they do nothing while somebody types, composes, has a dialog open, or switched them off.
(() => {
  "use strict";
  const Review = window.Review;
  const { rows, keeping, sending, text } = Review;
  let form = null;
  let map = new Map();
  let caps = new Map();
  let on = true;
  let native = false;
  let pressed = "";

  const byId = (id) => document.getElementById(id);
  const live = (words) => { const said = byId("live"); said.textContent = ""; said.textContent = words; };
  Review.live = live;

  // --- What can be done --------------------------------------------------------------------------------------
  function judge(row, radio) {
    if (!rows.choose(row, radio)) return;
    keeping.did();
    rows.onward();
  }
  function guess(row, rank) {
    if (!rows.choose(row, rows.withRank(row, rank))) { live(`There is no guess ${rank + 1}`); return; }
    keeping.did();
  }
  function edit(row) {
    native = true;
    // Where there are words to choose from, one chooses among them; the field is the last of them.
    const options = rows.part(row, "choice");
    if (row.dataset.kind.startsWith("choice")) { (rows.chosen(row) || options[0]).focus(); return; }
    write(row);
  }
  // The field begins with what stands there. Until something is typed, or Enter takes it, the choice stays.
  function write(row) {
    const field = rows.field(row);
    if (!field.value) field.value = rows.value(row) || row.dataset.first;
    field.focus();
    field.select();
  }
  function take(row) {
    const typed = rows.field(row).value.trim();
    if (typed && typed !== rows.value(row)) rows.choose(row, rows.withValue(row, "other"));
  }
  function scale(row, name, number) {
    if (!rows.scale(row, name, number)) return;
    rows.own(row);
    live(`${name} ${number}`);
    keeping.did();
  }
  function acceptAll() {
    const open = rows.untouched().filter((row) => rows.withRank(row, 0));
    if (!open.length) { keeping.say("No suggestion is left to judge"); return; }
    const share = Math.round((100 * open.length) / rows.all().length);
    const accept = () => {
      open.forEach((row) => rows.choose(row, rows.withRank(row, 0), { bulk: true }));
      keeping.did();
      live(`${open.length} accepted`);
      rows.go(rows.all().indexOf(open[open.length - 1]));
    };
    if (share < Number(form.dataset.asksFrom || 50)) { accept(); return; }
    const dialog = byId("ask-all");
    dialog.querySelectorAll("[data-count]").forEach((one) => { one.textContent = `${open.length} suggestion${open.length === 1 ? "" : "s"}`; });
    dialog.querySelector("[data-share]").textContent = `${share} %`;
    dialog.showModal();
    dialog.querySelector("[value=yes]").focus();
    dialog.onclick = (event) => {
      const said = event.target.closest("button");
      if (!said) return;
      dialog.close();
      rows.go(rows.place());
      if (said.value === "yes") accept();
    };
  }
  function rest() {
    const left = rows.all().filter((row) => row.dataset.state === "pending");
    left.forEach((row) => rows.choose(row, rows.withValue(row, "none"), { bulk: true }));
    live(`${left.length} rows: no evidence`);
    keeping.did();
  }
  function quote(row) {
    const found = caught || text.selected();
    caught = null;
    const wrong = found.problem || rows.quote(row, found);
    if (wrong) { keeping.say(wrong, { wrong: true }); live(wrong); return; }
    rows.own(row);
    keeping.did();
    keeping.say("");
    document.getSelection().removeAllRanges();
    live("Quoted");
  }
  function unquote(row, place) {
    rows.setEvidence(row, rows.evidence(row).filter((_, index) => index !== place));
    keeping.did();
    row.focus({ preventScroll: true });
  }
  function thread() {
    const folds = [...document.querySelectorAll(".work-tree details")];
    const open = folds.some((fold) => !fold.open);
    folds.forEach((fold) => { fold.open = open; });
    named("thread").forEach((one) => { one.querySelector("span").textContent = open ? "Fold thread" : "Expand thread"; });
  }
  const named = (action) => [...document.querySelectorAll(`#work [data-does="${action}"]`)];
  function search() {
    const finder = document.querySelector(".finder input");
    if (finder) { finder.focus(); return; }
    named("search").forEach((link) => link.click());
  }
  function guidelines() {
    const link = named("guidelines")[0];
    if (!link) { keeping.say("This queue has no guidelines"); return; }
    try { localStorage.setItem(`synthpai:guidelines:${link.dataset.queue}`, link.dataset.version); } catch { /* It stays marked as new. */ }
    link.querySelector(".fresh-mark").hidden = true;
    sending.drawer("Guidelines", link.href);
  }
  function more() {
    const link = named("more")[0];
    if (link) sending.drawer(link.dataset.title, link.href);
  }
  function sheet(name, focus) {
    const found = byId(name);
    if (!found) { keeping.say("This comment is answered; it cannot be skipped any more", { wrong: true }); return; }
    found.open = true;
    const first = found.querySelector(focus);
    if (first) first.focus();
  }
  function flag(row) {
    const about = document.querySelector("#flag [name=attribute]");
    if (about) about.value = row && document.activeElement.closest(".attr") ? row.dataset.key : "";
    sheet("flag-sheet", byId("flag").hidden ? "#unflag button" : "#flag textarea");
  }
  const submit = (act) => form.requestSubmit(document.querySelector(`button[form="review"][value="${act}"]`));
  const off = (direction) => sending.load(`${form.getAttribute("action")}${direction}/`, direction === "earlier" ? "Nothing of yours is earlier" : "Nothing of yours is later");

  const does = {
    next_row: () => rows.go(rows.place() + 1),
    previous_row: () => rows.go(rows.place() - 1),
    accept: (row) => judge(row, rows.withRank(row, 0)),
    guess_2: (row) => guess(row, 1),
    guess_3: (row) => guess(row, 2),
    no_evidence: (row) => judge(row, rows.withValue(row, "none")),
    unsure: (row) => judge(row, rows.withValue(row, "unsure")),
    edit, quote, flag, guidelines, more, thread, search,
    accept_all: acceptAll,
    nothing_else: rest,
    skip: () => sheet("skip-sheet", "[name=reason]:checked, [name=reason]"),
    help: () => byId("scales").showModal(),
    submit: () => { document.activeElement.blur(); submit("submit"); },
    save: () => { keeping.did(); keeping.edited(); keeping.save(); },
    undo: keeping.undo,
    redo: keeping.redo,
    earlier: () => off("earlier"),
    later: () => off("later"),
  };

  // --- Keys ----------------------------------------------------------------------------------------------------
  // The name of what was pressed, as the map has it. Letters of other alphabets count by their place.
  function nameOf(event) {
    let key = event.key;
    const place = /^Key([A-Z])$/.exec(event.code);
    if (place && key.length === 1 && key.toLowerCase() !== key.toUpperCase() && key.charCodeAt(0) > 127 && !map.has(key)) key = place[1].toLowerCase();
    const letter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
    if (event.ctrlKey || event.metaKey) return `Ctrl+${event.shiftKey ? "Shift+" : ""}${letter ? key.toUpperCase() : key}`;
    if (letter) return event.shiftKey ? `Shift+${key.toUpperCase()}` : key.toLowerCase();
    return key;
  }
  const typing = (target) => target.matches("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");
  const dialogOpen = () => Boolean(document.querySelector("dialog[open]"));
  const sheetOpen = () => document.querySelector(".sheet[open], .menu[open]");

  function inSheet(event, open) {
    if (event.key === "Escape") {
      event.preventDefault();
      open.open = false;
      rows.go(rows.place());
      return;
    }
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
    if (open.id !== "skip-sheet" || !digit || typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const reason = open.querySelectorAll("[name=reason]")[digit[1] - 1];
    if (reason) { event.preventDefault(); reason.checked = true; reason.focus(); }
  }
  // While somebody types in a row, three keys are ours: the list's, Enter goes on, Esc leaves. Enter never submits.
  function inField(event) {
    const row = event.target.closest(".attr");
    if (!row) return;
    if (rows.keyInList(event.target, event.key)) { event.preventDefault(); return; }
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Enter" && event.target.name.endsWith("-text")) take(row);
    rows.go(rows.placeOf(row) + (event.key === "Enter" ? 1 : 0));
    keeping.did();
  }

  document.addEventListener("keydown", (event) => {
    pressed = event.key;
    if (!form || event.isComposing || event.keyCode === 229 || dialogOpen()) return;
    const open = sheetOpen();
    if (open) { inSheet(event, open); return; }
    const fielded = typing(event.target);
    if (fielded && !(event.ctrlKey || event.metaKey)) { inField(event); return; }
    if (!on || event.altKey) return;
    const name = nameOf(event);
    const row = rows.now();
    // In a field, undoing is the field's own; submitting and saving work from everywhere.
    if (fielded && !["submit", "save"].includes(map.get(name))) return;
    const digit = /^(?:Digit|Numpad)([1-5])$/.exec(event.code);
    if (digit && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      scale(row, event.shiftKey ? "certainty" : "hardness", digit[1]);
      return;
    }
    // On a control, Enter and the arrows belong to it.
    const radio = event.target.matches("input[type=radio]") && native;
    if (radio && event.key.startsWith("Arrow")) return;
    if (radio && (event.key === "Enter" || event.key === "Escape") && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      keeping.did();
      if (event.key === "Enter" && event.target.value === "other" && !rows.field(row).value) write(row);
      else rows.go(rows.place() + (event.key === "Enter" ? 1 : 0));
      return;
    }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && event.target.closest("button, a, summary, .chip")) return;
    const action = map.get(name);
    if (!action) return;
    event.preventDefault();
    if (event.repeat && !["next_row", "previous_row"].includes(action)) return;
    if (!fielded) keeping.did();
    does[action](row);
  });

  // --- Mouse, touch, focus ---------------------------------------------------------------------------------------
  let caught = null;
  // A press on a button may take the selection away: it is read when the press begins.
  document.addEventListener("pointerdown", (event) => {
    pressed = "pointer";
    native = false;
    caught = event.target.closest("[data-does=quote]") ? text.selected() : null;
    const open = sheetOpen();
    if (open && !open.contains(event.target)) open.open = false;
  });
  document.addEventListener("click", (event) => {
    if (!form) { if (event.target.closest("[data-does=drop]")) keeping.forget(byId("keep").getAttribute("action"), byId("keep").dataset); return; }
    const row = event.target.closest(".attr");
    if (row) rows.go(rows.placeOf(row), false);
    if (event.target.closest(".chip[role=button]")) { event.preventDefault(); judge(row, rows.withRank(row, 0)); return; }
    const control = event.target.closest("[data-does]");
    if (!control || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const action = control.dataset.does;
    if (action === "search") return;
    event.preventDefault();
    if (action === "change") sending.load(control.getAttribute("href"), "It cannot be opened");
    else if (action === "unquote") unquote(row, Number(control.dataset.place));
    else does[action](rows.now());
  });
  document.addEventListener("keydown", (event) => {
    const chip = event.target.closest && event.target.closest(".chip[role=button]");
    if (!chip || (event.key !== "Enter" && event.key !== " ") || event.isComposing) return;
    event.preventDefault();
    chip.click();
  });
  document.addEventListener("focusin", (event) => {
    const row = form && event.target.closest(".attr");
    if (!row) return;
    if (pressed === "Tab") native = true;
    // Opening a row moves the others: a press of the mouse opens it when it is over, not under its hand.
    if (pressed !== "pointer" && rows.placeOf(row) !== rows.place()) rows.go(rows.placeOf(row), false);
  });
  document.addEventListener("focusout", (event) => {
    const row = form && event.target.name && event.target.name.endsWith("-text") && event.target.closest(".attr");
    const choice = row && rows.chosen(row);
    if (row && (!choice || choice.value !== "other")) event.target.value = "";
  });
  document.addEventListener("change", (event) => {
    const row = form && event.target.closest(".attr");
    if (row) {
      if (event.target.name.endsWith("-choice")) rows.choose(row, event.target); else rows.own(row);
      rows.paint(row);
    }
    if (!form || !form.contains(event.target)) return;
    // Arrows pass over radios: where they come to rest is one act.
    if (native && event.target.type === "radio") keeping.edited(); else keeping.did();
  });
  document.addEventListener("input", (event) => {
    if (!form || !form.contains(event.target) || !typing(event.target)) return;
    const row = event.target.closest(".attr");
    if (row && event.target.name.endsWith("-text")) {
      rows.choose(row, rows.withValue(row, "other"));
      if (!event.isComposing) rows.offer(event.target);
    }
    keeping.edited();
  });
  document.addEventListener("submit", (event) => {
    const which = event.target;
    if (which.id === "review") {
      event.preventDefault();
      if (event.submitter && event.submitter.value === "rest") rest();
      sending.send(which, event.submitter, () => keeping.forget());
    } else if (which.id === "keep") {
      event.preventDefault();
      sending.send(which, event.submitter, () => keeping.forget(which.getAttribute("action"), which.dataset));
    } else if (which.id === "skip") {
      event.preventDefault();
      sending.send(which, event.submitter);
    } else if (which.id === "flag" || which.id === "unflag") {
      event.preventDefault();
      flagged(which, event.submitter);
    }
  });
  async function flagged(which, submitter) {
    const body = () => {
      const sent = new FormData(which);
      if (submitter && submitter.name) sent.set(submitter.name, submitter.value);
      return sent;
    };
    const answer = await sending.post(which.getAttribute("action"), body);
    if (answer.kind !== "answered" || answer.status !== 200) {
      sending.trouble("The flag was not sent: the server did not answer.");
      return;
    }
    const set = which.id === "flag";
    byId("flag").hidden = set;
    byId("unflag").hidden = !set;
    byId("flagged").hidden = !set;
    const about = which.elements.namedItem("attribute");
    if (set) byId("unflag").querySelector("p").textContent = `You flagged ${about.value ? about.selectedOptions[0].textContent : "this comment"}. ${which.elements.namedItem("note").value}`;
    byId("flag-sheet").open = false;
    keeping.say(set ? "Flagged for the adjudicator" : "The flag is taken back");
    rows.go(rows.place());
  }

  // --- The beginning, of the page and of each item ------------------------------------------------------------------
  function readMap() {
    const bound = JSON.parse((byId("keymap") || { textContent: "[]" }).textContent);
    map = new Map();
    caps = new Map();
    for (const [action, key] of bound) {
      if (key) map.set(key, action);
      if (key && !caps.has(action)) caps.set(action, key);
    }
    on = !byId("keys-on") || byId("keys-on").textContent.trim() !== "";
    const mac = /Mac|iP/.test(navigator.platform);
    const shown = (key) => key.replace("Shift+", "⇧").replace("Ctrl+", mac ? "⌘" : "Ctrl ").replace("Enter", "⏎");
    for (const cap of document.querySelectorAll("kbd[data-for]")) {
      const key = on && caps.get(cap.dataset.for);
      cap.textContent = key ? shown(key) : "";
      cap.hidden = !key;
    }
  }
  function fresh() {
    const link = named("guidelines")[0];
    if (!link) return;
    let seen = null;
    try { seen = localStorage.getItem(`synthpai:guidelines:${link.dataset.queue}`); } catch { /* Not known: new. */ }
    link.querySelector(".fresh-mark").hidden = seen === link.dataset.version;
  }
  Review.begin = ({ focus = true } = {}) => {
    form = byId("review");
    native = false;
    readMap();
    rows.begin(form);
    keeping.begin(form);
    sending.begin(form);
    if (!form) { const title = byId("two"); if (title && focus) title.focus(); return; }
    fresh();
    const errors = byId("errors");
    const wrong = rows.all().findIndex((row) => row.querySelector(".wrong"));
    const first = rows.all().findIndex((row) => row.dataset.state === "untouched");
    rows.go(Math.max(0, errors ? wrong : first), false);
    if (errors) { errors.focus(); return; }
    rows.now().focus({ preventScroll: true });
    // In one column the comment comes first; in two panes it only has to be in sight.
    const narrow = window.matchMedia("(max-width: 56rem)").matches;
    byId("target").scrollIntoView({ block: narrow ? "start" : "nearest" });
  };

  window.addEventListener("beforeunload", (event) => { if (keeping.atRisk()) event.preventDefault(); });
  window.addEventListener("pagehide", () => { keeping.leave(); sending.leave(); });
  // A page out of the browser's memory may be sent again; the server tells a change from a repetition.
  window.addEventListener("pageshow", (event) => { if (event.persisted && form) { keeping.say(""); sending.renew(); } });
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden" && form) keeping.save(); });

  Review.begin();
})();

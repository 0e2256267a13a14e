// The review page, part 3 of 5: nothing is lost. Drafts in this browser and on the server, undo and redo, the
// time that was really spent. Storage may be full, forbidden or hold something else: the page works without it.
(() => {
  "use strict";
  const Review = window.Review;
  const { rows } = Review;
  const DEEP = 10;
  const STACKS = 12;
  const WAIT = 800;
  let form = null;
  let stack = null;
  let timer = 0;
  let stamps = { edit: 0, local: 0, server: 0 };
  let underway = Promise.resolve();

  const quietly = (act) => { try { return act(); } catch { return null; } };
  const stored = (box, key) => quietly(() => JSON.parse(box.getItem(key)));
  const store = (box, key, value) => quietly(() => { box.setItem(key, JSON.stringify(value)); return true; }) === true;
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  // What a set of fields says, as the server keeps it: no marks and no words where nothing is said.
  function meaning(fields) {
    const said = { ...fields, bulk: "" };
    for (const [name, choice] of Object.entries(fields)) {
      if (!name.endsWith("-choice")) continue;
      const key = name.slice(0, -"choice".length);
      const silent = ["", "none", "unsure"].includes(choice) ? ["text", "hardness", "certainty"] : choice === "other" ? [] : ["text"];
      for (const part of silent) said[key + part] = "";
      if (choice === "" || choice === "none") said[`${key}evidence`] = "";
    }
    return said;
  }
  const stage = () => form.elements.namedItem("stage").value;
  const version = () => Number(form.elements.namedItem("base_version").value);
  const draftKey = (action, at, person) => `synthpai:draft:${person}:${action}:${at}`;
  const ownKey = () => draftKey(form.getAttribute("action"), stage(), form.dataset.person);

  function say(words, { wrong = false } = {}) {
    const said = document.getElementById("said");
    if (!said) return;
    said.textContent = words;
    said.parentElement.classList.toggle("wrong", wrong);
  }

  // Undo: what stood in the form before each act, ten deep, one stack an item, in this tab.
  const stackKey = () => `synthpai:undo:${form.dataset.person}:${form.dataset.item}:${stage()}`;
  function keepStack() {
    const order = (stored(sessionStorage, "synthpai:undo") || []).filter((key) => key !== stackKey());
    order.push(stackKey());
    while (order.length > STACKS) sessionStorage.removeItem(order.shift());
    store(sessionStorage, "synthpai:undo", order);
    store(sessionStorage, stackKey(), stack);
  }
  const trailKey = () => `synthpai:trail:${form.dataset.person}:${form.dataset.queue}`;
  const trail = () => stored(sessionStorage, trailKey()) || [];
  const setTrail = (addresses) => store(sessionStorage, trailKey(), addresses.slice(-DEEP));

  // Something was set: remember what was before, keep what is.
  function did() {
    if (!form) return;
    const fields = rows.read();
    if (same(fields, stack.now)) return;
    stack.past = [...stack.past, stack.now].slice(-DEEP);
    stack.now = fields;
    stack.future = [];
    quietly(keepStack);
    setTrail([]);
    edited();
  }
  function step(from, to, word) {
    stack[to] = [...stack[to], stack.now].slice(-DEEP);
    stack.now = stack[from].pop();
    rows.write(stack.now);
    quietly(keepStack);
    edited();
    Review.live(word);
  }
  function undo() {
    did();
    if (stack.past.length) { step("past", "future", "Undone"); return; }
    // Nothing left to undo here: the last submission itself is undone by opening it again.
    const here = form.dataset.here;
    const back = version() ? `${form.getAttribute("action")}earlier/` : `${form.dataset.queue}last/`;
    const [key, before] = [trailKey(), trail()];
    Review.sending.load(back, "Nothing is left to undo").then((went) => { if (went) store(sessionStorage, key, [...before, here].slice(-DEEP)); });
  }
  function redo() {
    did();
    if (stack.future.length) { step("future", "past", "Done again"); return; }
    const ahead = trail();
    const next = ahead.pop();
    if (!next) { say("Nothing is left to redo"); return; }
    setTrail(ahead);
    Review.sending.load(next, "Nothing is left to redo");
  }

  // Drafts. In this browser at once; on the server when the person pauses.
  function edited() {
    stamps.edit = Math.max(Date.now(), stamps.edit + 1);
    local();
    clearTimeout(timer);
    timer = setTimeout(save, WAIT);
  }
  function local() {
    const spent = form.elements.namedItem("active_ms").value;
    if (store(localStorage, ownKey(), { version: version(), stamp: stamps.edit, fields: rows.read(), spent })) stamps.local = stamps.edit;
  }
  function body() {
    const sent = new FormData(form);
    // A scale that is switched off is not sent with the form, but belongs to the draft.
    for (const [name, value] of Object.entries(rows.read())) sent.set(name, value);
    sent.set("stamp", stamps.edit);
    return sent;
  }
  function save() {
    clearTimeout(timer);
    if (!form || stamps.server >= stamps.edit) return underway;
    const [stamp, mine] = [stamps.edit, form];
    underway = Review.sending.post(`${form.getAttribute("action")}draft/`, body, { patient: true }).then((answer) => {
      if (form !== mine) return;
      if (answer.kind === "lapsed") { say("Signed out: kept in this browser", { wrong: true }); Review.sending.offerSignIn(); return; }
      if (answer.kind === "answered" && answer.status === 200) {
        stamps.server = Math.max(stamps.server, stamp);
        if (stamps.server >= stamps.edit) say(`Saved ${quietly(() => JSON.parse(answer.text).saved) || ""}`.trim());
        return;
      }
      if (answer.kind === "answered" && answer.status === 409) { say("Another tab stored an answer; submitting shows both", { wrong: true }); return; }
      say(stamps.local >= stamps.edit ? "Kept in this browser only" : "Not saved yet", { wrong: true });
    });
    return underway;
  }
  // Whether what was entered is in neither place.
  const atRisk = () => Boolean(form) && stamps.edit > stamps.local && stamps.edit > stamps.server;
  // Before the page goes: what the server does not have yet is sent without waiting for an answer.
  function leave() {
    if (!form) return;
    did();
    clearTimeout(timer);
    if (stamps.edit > stamps.server) quietly(() => navigator.sendBeacon(`${form.getAttribute("action")}draft/`, body()));
  }
  async function settled() {
    clearTimeout(timer);
    await Promise.race([underway, new Promise((done) => { setTimeout(done, 1500); })]);
  }
  // What is stored needs no draft any more. `facts` name the person where the page has no form of rows.
  function forget(action = form.getAttribute("action"), facts = form.dataset) {
    clearTimeout(timer);
    quietly(() => ["first", "final"].forEach((at) => localStorage.removeItem(draftKey(action, at, facts.person))));
    stamps = { edit: 0, local: 0, server: 0 };
  }
  function restore() {
    const here = stored(localStorage, ownKey());
    const there = quietly(() => JSON.parse(document.getElementById("draft").textContent));
    const fits = [here, there].filter((draft) => draft && draft.fields && Number(draft.version) === version());
    const newest = fits.sort((one, other) => other.stamp - one.stamp)[0];
    if (!newest || form.dataset.errors !== "0") return;
    const before = rows.read();
    rows.write(newest.fields);
    stamps = { edit: newest.stamp, local: here === newest ? newest.stamp : 0, server: there && there.stamp >= newest.stamp ? newest.stamp : 0 };
    const spent = form.elements.namedItem("active_ms");
    spent.value = Math.max(Number(spent.value), Number(newest.spent || newest.fields.active_ms) || 0);
    if (stamps.local < stamps.edit) local();
    if (same(before, rows.read())) return;
    say("Your draft is back");
    Review.live("Your draft is back");
    if (stamps.server < stamps.edit) timer = setTimeout(save, WAIT);
  }

  // Time counts while the page is seen and the person did something within the last minute.
  let last = Date.now();
  let opened = { item: "", at: 0 };
  ["keydown", "pointerdown", "pointermove", "wheel", "scroll"].forEach((kind) =>
    document.addEventListener(kind, () => { last = Date.now(); }, { passive: true, capture: true }));
  const active = (within = 60000) => document.visibilityState === "visible" && Date.now() - last < within;
  setInterval(() => {
    if (!form) return;
    const spent = form.elements.namedItem("active_ms");
    if (active()) spent.value = Number(spent.value) + 1000;
    form.elements.namedItem("wall_ms").value = Date.now() - opened.at;
  }, 1000);

  function begin(found) {
    clearTimeout(timer);
    form = found;
    stamps = { edit: 0, local: 0, server: 0 };
    underway = Promise.resolve();
    if (!form) return;
    if (opened.item !== form.dataset.item) opened = { item: form.dataset.item, at: Date.now() };
    restore();
    stack = stored(sessionStorage, stackKey()) || { past: [], future: [] };
    // The stack ends at what it knew last; what stands here now may be another answer of the same item.
    if (stack.now && !same(meaning(stack.now), meaning(rows.read()))) stack = { past: [...stack.past, stack.now].slice(-DEEP), future: [] };
    stack.now = rows.read();
  }

  Review.keeping = { begin, did, edited, save, undo, redo, say, atRisk, leave, settled, forget, active };
})();

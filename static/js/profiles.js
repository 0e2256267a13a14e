// The pages of profiles. Checking: one key a profile, each act sent by htmx while the next profile is at hand
// already. Editing: names of places and occupations to choose from. Both work without this file.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  // --- Checking: which profile is at hand ----------------------------------------------------------------------
  const cards = () => [...document.querySelectorAll(".pcard")];
  const open = (card) => card.dataset.state === "proposed" && !card.hasAttribute("aria-busy");
  let now = "";

  const current = () => document.getElementById(now) || cards().find(open) || cards()[0];

  function go(card, focus = true) {
    if (!card) return;
    cards().forEach((one) => one.classList.toggle("now", one === card));
    now = card.id;
    if (!focus) return;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    const all = cards();
    const place = all.indexOf(current()) + by;
    if (place >= all.length) document.getElementById("more")?.focus();
    else go(all[Math.max(0, place)]);
  }
  // The next one that nobody has judged, below before above; at the end of the page the way on.
  function onward(card) {
    const all = cards();
    const place = all.indexOf(card);
    const next = [...all.slice(place + 1), ...all.slice(0, place)].find(open);
    const left = document.getElementById("left");
    if (left) left.textContent = next ? "" : "All on this page are judged.";
    if (next) go(next);
    else (document.getElementById("more") || card).focus();
  }
  function act(card, name) {
    const button = card.querySelector(`.pcard-acts > form button[value="${name}"]`);
    if (!button || card.hasAttribute("aria-busy")) return;
    button.click();
  }
  const does = {
    j: () => step(1),
    k: () => step(-1),
    a: (card) => act(card, "approve"),
    r: (card) => act(card, "reject"),
    u: (card) => act(card, "restore"),
    g: (card) => act(card, "regenerate"),
    e: (card) => card.querySelector("[data-does=edit]")?.click(),
    R: (card) => {
      const reason = card.querySelector(".preason");
      if (!reason) return;
      reason.open = true;
      reason.querySelector("input.field").focus();
    },
  };
  const typing = (target) => target.matches("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");

  document.addEventListener("keydown", (event) => {
    if (!cards().length || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape" && event.target.closest(".pcard")) go(event.target.closest(".pcard"));
      return;
    }
    const key = event.key === "R" ? "R" : event.key.toLowerCase();
    if (!Object.hasOwn(does, key) || (event.repeat && key !== "j" && key !== "k")) return;
    event.preventDefault();
    does[key](current());
  });
  document.addEventListener("focusin", (event) => {
    const card = event.target.closest(".pcard");
    if (card && card.id !== now) go(card, false);
  });
  // What is sent is on its way: the next profile is at hand at once. Undoing stays where it is.
  // Each answer brings the counts as they were when it was made; answers that were under way at the same time
  // may come in any order, so that the counts are asked for once more when the last of them is there.
  let underWay = 0;
  let overlapped = false;
  function counted(by) {
    underWay += by;
    overlapped = overlapped || underWay > 1;
    if (underWay || !overlapped) return;
    overlapped = false;
    // Asked by what stays on the page: an answer to an element that another answer has replaced finds no counts.
    htmx.ajax("GET", location.href, { source: "main", target: "#tally", select: "#tally", swap: "outerHTML" });
  }
  const counts = (event) => {
    const asks = event.detail.requestConfig.elt;  // no more on the page, maybe
    return asks.matches("main") || asks.closest(".pcard");
  };
  document.addEventListener("htmx:beforeRequest", (event) => { if (counts(event)) counted(1); });
  document.addEventListener("htmx:afterRequest", (event) => { if (counts(event)) counted(-1); });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const card = event.target.closest(".pcard");
    if (!card) return;
    const stays = event.detail.requestConfig.parameters.act === "restore";
    card.setAttribute("aria-busy", "true");
    if (!stays) onward(card);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const card = event.target.closest && event.target.closest(".pcard");
    if (!card) return;
    card.removeAttribute("aria-busy");
    if (event.detail.successful) return;
    const said = document.createElement("p");
    said.className = "notice";
    said.dataset.state = "danger";
    said.setAttribute("role", "alert");
    said.textContent = "The server did not answer as it should: nothing was changed as far as this page knows. Reload it.";
    card.querySelector(".pcard-head").after(said);
  });
  // Only then: until it has settled, htmx gives a new element the attributes of the old one and back.
  document.addEventListener("htmx:afterSettle", () => {
    const card = document.getElementById(now);
    if (!card) return;
    card.classList.add("now");
    if (document.activeElement === document.body) card.focus({ preventScroll: true });
  });

  // --- The panel comes anew: what was opened in it stays open ---------------------------------------------------
  let opened = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "diversity") return;
    opened = new Map([...event.detail.target.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (!opened || event.detail.target.id !== "diversity") return;
    opened.forEach((was, id) => { const one = document.getElementById(id); if (one) one.open = was; });
    opened = null;
  });

  // --- Editing: what one may be about to type -------------------------------------------------------------------
  let asked = 0;
  document.addEventListener("input", (event) => {
    const list = event.target.list;
    if (!list || !list.dataset.lookup) return;
    clearTimeout(asked);
    asked = setTimeout(async () => {
      try {
        const answer = await fetch(`${list.dataset.lookup}?q=${encodeURIComponent(event.target.value)}`, { headers: { Accept: "application/json" } });
        if (!answer.ok) return;
        const { values } = await answer.json();
        list.replaceChildren(...values.map((value) => Object.assign(document.createElement("option"), { value })));
      } catch { /* Without suggestions one types the whole name. */ }
    }, 120);
  });

  const named = location.hash.startsWith("#p-") && document.getElementById(location.hash.slice(1));
  if (cards().length) go(named || cards().find(open) || cards()[0], Boolean(named));
})();

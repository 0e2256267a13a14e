// The review page for people who use the keyboard. Without this file the form works as it stands:
// everything here only moves, marks and counts; the server checks all of it again.
(() => {
  "use strict";
  const form = document.getElementById("review");
  if (!form) return;
  const rows = [...form.querySelectorAll(".attr")];
  const dialog = document.getElementById("scales");
  const said = document.getElementById("said");
  const ICON = { untouched: "spark", confirmed: "tick", corrected: "pencil", added: "plus", rejected: "ban", none: "empty", unsure: "ask", pending: "ring" };
  const WORD = { untouched: "Suggested", confirmed: "Confirmed", corrected: "Corrected", added: "Added", rejected: "Rejected", none: "No evidence", unsure: "Unsure", pending: "Not reviewed" };
  let current = 0;

  document.documentElement.classList.add("js");

  const key = (row) => row.id.slice("attr-".length);
  const part = (row, name) => [...form.elements].filter((field) => field.name === `${key(row)}-${name}`);
  const chosen = (row) => part(row, "choice").find((radio) => radio.checked) || null;
  const text = (row) => part(row, "text")[0] || null;
  const fold = (words) => words.trim().replace(/\s+/g, " ").toLowerCase();

  // What the row says now, in words and as a state of the design.
  function value(row) {
    const radio = chosen(row);
    if (!radio || radio.value === "none" || radio.value === "unsure") return "";
    if (radio.value === "other") return text(row).value.trim();
    return radio.parentElement.querySelector("span").textContent;
  }
  function state(row) {
    const radio = chosen(row);
    const suggested = row.dataset.suggested === "1";
    if (!radio) return suggested ? "untouched" : "pending";
    if (radio.value === "none") return suggested ? "rejected" : "none";
    if (radio.value === "unsure") return "unsure";
    if (!suggested) return "added";
    return fold(value(row)) === fold(row.dataset.first) ? "confirmed" : "corrected";
  }

  function paint(row) {
    const now = state(row);
    row.dataset.state = now;
    row.querySelector(".word").textContent = WORD[now];
    const use = row.querySelector(".stamp use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${ICON[now]}`));
    const shown = row.querySelector(".shown");
    const words = value(row);
    shown.textContent = words || { rejected: "Nothing in the text", none: "Nothing in the text", unsure: "Cannot decide", pending: "Nothing suggested" }[now] || "Not judged yet";
    shown.classList.toggle("void", !words);
    const chip = row.querySelector(".attr-value .chip");
    if (chip) chip.dataset.state = now;
    const off = ["rejected", "none", "unsure"].includes(now);
    row.querySelectorAll(".scale").forEach((scale) => scale.classList.toggle("off", off));
    for (const name of ["hardness", "certainty"]) part(row, name).forEach((radio) => { radio.disabled = off; });
    count();
  }

  function count() {
    const open = rows.filter((row) => row.dataset.state === "untouched").length;
    const badge = document.getElementById("untouched");
    badge.hidden = open === 0;
    badge.lastElementChild.textContent = `${open} to judge`;
  }

  function go(place, focus = true) {
    current = Math.max(0, Math.min(rows.length - 1, place));
    rows.forEach((row, index) => {
      row.classList.toggle("now", index === current);
      if (index === current) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
    });
    if (focus) {
      rows[current].focus({ preventScroll: true });
      rows[current].scrollIntoView({ block: "nearest" });
    }
  }

  function choose(row, radio) {
    if (!radio) return false;
    radio.checked = true;
    paint(row);
    return true;
  }
  const withValue = (row, wanted) => part(row, "choice").find((radio) => radio.value === wanted);
  const withRank = (row, rank) => part(row, "choice").find((radio) => radio.dataset.rank === String(rank));
  function mark(row, name, number) {
    const radio = part(row, name).find((one) => one.value === String(number));
    if (radio && !radio.disabled) { radio.checked = true; said.textContent = `${name} ${number}`; }
  }
  function edit(row) {
    const other = withValue(row, "other");
    if (other) { choose(row, other); text(row).focus(); text(row).select(); return; }
    (chosen(row) || part(row, "choice")[0]).focus();
  }
  function rest() {
    rows.filter((row) => row.dataset.state === "pending").forEach((row) => choose(row, withValue(row, "none")));
  }

  const submit = (act) => form.requestSubmit(document.querySelector(`button[form="review"][value="${act}"]`));

  const plain = {
    j: () => go(current + 1), ArrowDown: () => go(current + 1),
    k: () => go(current - 1), ArrowUp: () => go(current - 1),
    a: (row) => { if (choose(row, withRank(row, 0))) go(current + 1); },
    q: (row) => choose(row, withRank(row, 1)),
    w: (row) => choose(row, withRank(row, 2)),
    x: (row) => { choose(row, withValue(row, "none")); go(current + 1); },
    u: (row) => { choose(row, withValue(row, "unsure")); go(current + 1); },
    e: edit, Enter: edit,
    n: rest,
    t: () => {
      const folds = [...document.querySelectorAll(".work-tree details")];
      const open = folds.some((fold) => !fold.open);
      folds.forEach((fold) => { fold.open = open; });
    },
    h: () => dialog.showModal(), "?": () => dialog.showModal(),
  };

  const typing = (target) => target.matches("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || dialog.open) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit("submit"); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[current];
    if (typing(event.target)) {
      if (event.key === "Enter" && row.contains(event.target)) { event.preventDefault(); go(current + 1); }
      if (event.key === "Escape") { event.preventDefault(); go(current); }
      return;
    }
    // On a control, Enter and the arrows belong to it.
    if (event.target.closest("button, a, summary") && event.key === "Enter") return;
    const digit = /^(?:Digit|Numpad)([1-5])$/.exec(event.code);
    if (digit) { event.preventDefault(); mark(row, event.shiftKey ? "certainty" : "hardness", digit[1]); return; }
    const act = plain[event.key];
    if (act && (!event.shiftKey || event.key === "?")) { event.preventDefault(); act(row); }
  });

  form.addEventListener("focusin", (event) => {
    const row = event.target.closest(".attr");
    if (row) go(rows.indexOf(row), false);
  });
  form.addEventListener("click", (event) => {
    const row = event.target.closest(".attr");
    if (row) go(rows.indexOf(row), false);
  });
  form.addEventListener("change", (event) => {
    const row = event.target.closest(".attr");
    if (row) paint(row);
  });
  form.addEventListener("input", (event) => {
    const row = event.target.closest(".attr");
    if (row && event.target.matches("input.field")) choose(row, withValue(row, "other"));
  });

  // Time counts while the page is seen and the person did something within the last minute.
  const spent = form.elements.namedItem("active_ms");
  let last = Date.now();
  ["keydown", "pointerdown", "pointermove", "wheel", "scroll"].forEach((kind) =>
    document.addEventListener(kind, () => { last = Date.now(); }, { passive: true, capture: true }));
  setInterval(() => {
    if (document.visibilityState === "visible" && Date.now() - last < 60000) spent.value = Number(spent.value) + 1000;
  }, 1000);

  // One press, one request; the server would store a second one only once anyway.
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) { event.preventDefault(); return; }
    if (event.submitter && event.submitter.value === "rest") rest();
    form.dataset.sent = "1";
    said.textContent = "Sending";
  });
  // A page out of the browser's memory may be sent again; the server tells a change from a repetition.
  window.addEventListener("pageshow", (event) => { if (event.persisted) { delete form.dataset.sent; said.textContent = ""; } });

  // A draft in this browser: a lapsed login, a closed tab or a lost connection costs nothing typed.
  const draftKey = (action) => `synthpai:draft:${form.dataset.person}:${action}`;
  const own = draftKey(form.getAttribute("action"));
  const fields = () => [...form.elements].filter((field) => field.name && field.name.includes("-") && field.type !== "hidden");
  // Storage may be full, forbidden or hold something else: the form works without it.
  function stored(act) {
    try { return act(); } catch { return null; }
  }
  function keep() {
    const values = fields().filter((field) => field.type !== "radio" || field.checked).map((field) => [field.name, field.value]);
    stored(() => localStorage.setItem(own, JSON.stringify({ version: form.dataset.version, values })));
  }
  function restore() {
    const draft = stored(() => JSON.parse(localStorage.getItem(own)));
    if (!draft || draft.version !== form.dataset.version || form.dataset.errors !== "0") return;
    for (const [name, value] of draft.values) {
      for (const field of fields().filter((one) => one.name === name)) {
        if (field.type === "radio") field.checked = field.value === value; else field.value = value;
      }
    }
    said.textContent = "Your draft is back";
  }
  document.querySelectorAll(".toasts a").forEach((link) => stored(() => localStorage.removeItem(draftKey(link.getAttribute("href")))));
  form.addEventListener("change", keep);
  form.addEventListener("input", keep);
  document.addEventListener("keyup", (event) => { if (!typing(event.target)) keep(); });
  restore();

  document.querySelectorAll("[data-opens]").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.showModal();
  }));

  // A word of success goes by itself; the page and the history keep what it said.
  setTimeout(() => document.querySelectorAll(".toasts .toast").forEach((toast) => toast.remove()), 8000);

  rows.forEach(paint);
  const errors = document.getElementById("errors");
  const wrong = rows.findIndex((row) => row.querySelector(".wrong"));
  if (errors) { go(wrong < 0 ? 0 : wrong, false); errors.focus(); }
  else {
    const first = rows.findIndex((row) => row.dataset.state === "untouched");
    go(first < 0 ? 0 : first, false);
    rows[current].focus({ preventScroll: true });
    // In one column the comment comes first; in two panes it only has to be in sight.
    const narrow = window.matchMedia("(max-width: 75rem)").matches;
    document.getElementById("target").scrollIntoView({ block: narrow ? "start" : "nearest" });
  }
})();

// The review page, part 2 of 5: the rows. What each says, how it looks, what is offered while one types.
// The server checks all of it again.
(() => {
  "use strict";
  const Review = window.Review;
  const { text: words } = Review;
  const ICON = { untouched: "spark", confirmed: "tick", corrected: "pencil", added: "plus", rejected: "ban", none: "empty", unsure: "ask", pending: "ring" };
  const WORD = { untouched: "Suggested", confirmed: "Confirmed", corrected: "Corrected", added: "Added", rejected: "Rejected", none: "No evidence", unsure: "Unsure", pending: "Not reviewed" };
  const VOID = { rejected: "Nothing in the text", none: "Nothing in the text", unsure: "Cannot decide", pending: "No value yet" };
  const PARTS = ["choice", "text", "hardness", "certainty", "evidence"];
  let form = null;
  let all = [];
  let current = 0;

  const part = (row, name) => [...row.querySelectorAll(`[name="${row.dataset.key}-${name}"]`)];
  const chosen = (row) => part(row, "choice").find((radio) => radio.checked) || null;
  const field = (row) => part(row, "text")[0] || null;
  const withValue = (row, wanted) => part(row, "choice").find((radio) => radio.value === wanted);
  const withRank = (row, rank) => part(row, "choice").find((radio) => radio.dataset.rank === String(rank));
  const fold = (said) => said.trim().replace(/\s+/g, " ").toLowerCase();
  const named = (name) => form.elements.namedItem(name);
  const now = () => all[current];

  // What the row says now, in words and as a state of the design.
  function value(row) {
    const radio = chosen(row);
    if (!radio || radio.value === "none" || radio.value === "unsure") return "";
    if (radio.value === "other") return field(row).value.trim();
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

  function setIcon(svg, name) {
    const use = svg.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
  }
  function paint(row) {
    const is = state(row);
    row.dataset.state = is;
    row.querySelector(".word").textContent = WORD[is];
    setIcon(row.querySelector(".stamp"), ICON[is]);
    const shown = row.querySelector(".shown");
    const said = value(row);
    shown.textContent = said || VOID[is] || "Not judged yet";
    shown.title = said;
    shown.classList.toggle("void", !said);
    paintChip(row, is);
    const off = ["rejected", "none", "unsure"].includes(is);
    row.querySelectorAll(".scale").forEach((scale) => scale.classList.toggle("off", off));
    for (const name of ["hardness", "certainty"]) part(row, name).forEach((radio) => { radio.disabled = off; });
    count();
  }
  function paintChip(row, is) {
    const chip = row.querySelector(".attr-value .chip:not(.nothing)");
    if (!chip) return;
    chip.dataset.state = is;
    setIcon(chip, ICON[is]);
    chip.querySelector(".guessed").textContent = is === "confirmed" ? "as suggested" : row.dataset.first;
    // While nobody has judged it the chip is a button: it accepts.
    if (is === "untouched" && row.dataset.first) {
      chip.setAttribute("role", "button");
      chip.setAttribute("aria-label", `Accept “${row.dataset.first}”. ${chip.title}`);
      chip.tabIndex = 0;
    } else {
      chip.removeAttribute("role");
      chip.removeAttribute("aria-label");
      chip.removeAttribute("tabindex");
    }
  }
  const untouched = () => all.filter((row) => row.dataset.state === "untouched");
  function count() {
    const open = untouched().length;
    const badge = document.getElementById("untouched");
    badge.hidden = open === 0;
    badge.querySelector("b").textContent = open;
  }

  function go(place, focus = true) {
    current = Math.max(0, Math.min(all.length - 1, place));
    all.forEach((row, index) => {
      row.classList.toggle("now", index === current);
      if (index === current) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
    });
    marks();
    if (focus && all.length) {
      now().focus({ preventScroll: true });
      now().scrollIntoView({ block: "nearest" });
    }
  }

  // After a judgement: to the next suggestion below that waits for one, else to the next row.
  function onward() {
    const waiting = all.findIndex((row, index) => index > current && row.dataset.state === "untouched");
    go(waiting < 0 ? current + 1 : waiting);
  }

  // One person, one row: the label is theirs, no longer part of an act for several rows.
  function inBulk() {
    return new Set(named("bulk").value.split(",").filter(Boolean));
  }
  function setBulk(keys) {
    named("bulk").value = [...keys].join(",");
  }
  function choose(row, radio, { bulk = false } = {}) {
    if (!radio) return false;
    radio.checked = true;
    // A guess comes with the marks of who made it, where the row has none (it had been answered without).
    if (radio.dataset.rank) {
      for (const name of ["hardness", "certainty"]) {
        const marks = part(row, name);
        const suggested = marks.find((one) => one.value === row.dataset[name]);
        if (suggested && !marks.some((one) => one.checked)) suggested.checked = true;
      }
    }
    const keys = inBulk();
    keys[bulk ? "add" : "delete"](row.dataset.key);
    setBulk(keys);
    paint(row);
    return true;
  }
  function own(row) {
    const keys = inBulk();
    if (keys.delete(row.dataset.key)) setBulk(keys);
  }
  function scale(row, name, number) {
    const radio = part(row, name).find((one) => one.value === String(number));
    if (!radio || radio.disabled) return false;
    radio.checked = true;
    return true;
  }

  // Evidence: the hidden field is the truth; cards and marks are drawn from it.
  function evidence(row) {
    try { return JSON.parse(part(row, "evidence")[0].value || "[]"); } catch { return []; }
  }
  function setEvidence(row, quotes) {
    part(row, "evidence")[0].value = quotes.length ? JSON.stringify(quotes) : "";
    cards(row);
    marks();
  }
  function source(quote) {
    const comment = document.querySelector(`[data-comment="${CSS.escape(quote.comment)}"]`);
    if (!comment) return "another comment";
    return comment.closest(".target") ? "target" : comment.closest("article").querySelector(".c-head b").textContent;
  }
  function cards(row) {
    row.querySelector(".quotes").replaceChildren(...evidence(row).map((quote, index) => {
      const card = document.createElement("li");
      card.className = "evidence";
      const place = document.createElement("span");
      place.className = "badge tag";
      place.textContent = `${source(quote)} · ${quote.start}–${quote.end}`;
      const said = document.createElement("q");
      said.dir = "auto";
      said.textContent = quote.quote;
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "btn quiet small icon";
      remove.dataset.does = "unquote";
      remove.dataset.place = index;
      remove.setAttribute("aria-label", `Remove the quote “${quote.quote.slice(0, 60)}”`);
      remove.append(document.querySelector(".chip .i, .stamp .i").cloneNode(true));
      setIcon(remove, "x");
      card.append(place, said, remove);
      return card;
    }));
  }
  function quote(row, found) {
    const quotes = evidence(row);
    if (quotes.some((one) => one.comment === found.comment && one.start === found.start && one.end === found.end)) return "That quote is there already";
    if (quotes.length >= 10) return "Ten quotes are enough for one attribute";
    setEvidence(row, [...quotes, found]);
    return "";
  }
  function marks() {
    if (!form) return;
    const quotes = all.flatMap((row) => evidence(row).map((one) => ({ comment: one.comment, start: one.start, end: one.end, row: row.dataset.number })));
    for (const element of document.querySelectorAll("[data-comment]")) {
      words.mark(element, quotes.filter((one) => one.comment === element.dataset.comment), now() && now().dataset.number);
    }
  }

  // All that a person can set, as names and values: for drafts and for undoing.
  function read() {
    const fields = { note: named("note").value, bulk: named("bulk").value };
    for (const row of all) {
      for (const name of PARTS) {
        const found = part(row, name);
        const said = name === "text" || name === "evidence" ? found[0] : found.find((radio) => radio.checked);
        fields[`${row.dataset.key}-${name}`] = said ? said.value : "";
      }
    }
    return fields;
  }
  function write(fields) {
    named("note").value = fields.note || "";
    named("bulk").value = fields.bulk || "";
    for (const row of all) {
      for (const name of PARTS) {
        const wanted = fields[`${row.dataset.key}-${name}`] || "";
        for (const one of part(row, name)) {
          if (one.type === "radio") one.checked = one.value === wanted; else one.value = wanted;
        }
      }
      cards(row);
      paint(row);
    }
    marks();
  }

  // Words offered while one types a place or an occupation (the combobox pattern of ARIA).
  let asking = 0;
  let offering = null;
  function fill(list, input, values) {
    list.replaceChildren(...values.map((said, index) => {
      const option = document.createElement("li");
      option.setAttribute("role", "option");
      option.id = `${list.id}-${index}`;
      option.textContent = said;
      option.setAttribute("aria-selected", "false");
      return option;
    }));
    list.hidden = values.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  }
  const listOf = (input) => input.parentElement.querySelector("[role=listbox]");
  function combobox(input) {
    const list = listOf(input);
    if (!list) return;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", list.id);
    input.addEventListener("blur", () => shut(input));
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) take(input, option);
    });
  }
  function offer(input) {
    const list = listOf(input);
    if (!list) return;
    clearTimeout(offering);
    const typed = input.value.trim();
    if (!typed) { shut(input); return; }
    const mine = ++asking;
    offering = setTimeout(async () => {
      const row = input.closest(".attr");
      try {
        const answer = await fetch(`${form.dataset.root}lookup/${row.dataset.key}/?q=${encodeURIComponent(typed)}`, { headers: { Accept: "application/json" } });
        const found = answer.ok && !answer.redirected ? (await answer.json()).values : [];
        if (mine === asking && document.activeElement === input) fill(list, input, found.filter((one) => one !== input.value).slice(0, 8));
      } catch { /* Nothing is offered; typing works as before. */ }
    }, 150);
  }
  function shut(input) {
    clearTimeout(offering);
    asking += 1;
    const list = listOf(input);
    if (list && !list.hidden) fill(list, input, []);
  }
  function take(input, option) {
    input.value = option.textContent;
    shut(input);
    choose(input.closest(".attr"), withValue(input.closest(".attr"), "other"));
    Review.keeping.did();
  }
  // Whether the list took the key: arrows move in it, Enter takes, Esc closes.
  function keyInList(input, key) {
    const list = listOf(input);
    if (!list || list.hidden) return false;
    const options = [...list.children];
    const at = options.findIndex((one) => one.getAttribute("aria-selected") === "true");
    if (key === "Escape") { shut(input); return true; }
    if (key === "Enter" && at >= 0) { take(input, options[at]); return true; }
    if (key !== "ArrowDown" && key !== "ArrowUp") return false;
    const next = (at + (key === "ArrowDown" ? 1 : at < 0 ? 0 : -1) + options.length) % options.length;
    options.forEach((one, index) => one.setAttribute("aria-selected", String(index === next)));
    input.setAttribute("aria-activedescendant", options[next].id);
    options[next].scrollIntoView({ block: "nearest" });
    return true;
  }

  // A page, or the part of it that was swapped in.
  function begin(found) {
    form = found;
    all = form ? [...form.querySelectorAll(".attr")] : [];
    current = 0;
    if (!form) return;
    for (const row of all) {
      cards(row);
      paint(row);
      if (field(row)) combobox(field(row));
    }
    marks();
  }

  Review.rows = {
    begin, read, write, go, onward, choose, own, scale, quote, evidence, setEvidence, untouched, withValue, withRank, chosen, value, field, part, paint, offer, keyInList, now,
    all: () => all,
    place: () => current,
    placeOf: (element) => all.indexOf(element.closest(".attr")),
  };
})();

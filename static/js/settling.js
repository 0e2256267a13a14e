// Settling questions: one key an answer. Each answer is sent by htmx and brings the next question; a press while
// one is under way does nothing. Works without this file: all keys press buttons and links of the page.
(() => {
  "use strict";
  const work = () => document.getElementById("work");
  const typing = (target) => target.matches("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");
  const PAUSE = 350;
  let underWay = false;
  let rests = 0;

  document.addEventListener("keydown", (event) => {
    if (!work() || event.isComposing || event.altKey || typing(event.target)) return;
    const undoes = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if ((event.ctrlKey || event.metaKey) && !undoes) return;
    const digit = /^(?:Digit|Numpad)([1-3])$/.exec(event.code);
    const key = digit && !event.shiftKey ? digit[1] : event.key.toLowerCase();
    const found = work().querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!found) return;
    event.preventDefault();
    if (event.repeat || underWay) return;
    found.click();
  });

  // --- On its way, and what becomes of it ----------------------------------------------------------------------
  function trouble(...words) {
    const place = document.getElementById("trouble");
    const said = document.createElement("p");
    said.className = "notice";
    said.dataset.state = "danger";
    const text = document.createElement("span");
    text.append(...words);
    said.append(text);
    place.replaceChildren(said);
  }
  function door() {
    const link = document.createElement("a");
    link.href = `${work().dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.target = "_blank";
    link.textContent = "Sign in in another window";
    return link;
  }
  const onDoor = (xhr) => Boolean(xhr.responseURL) && new URL(xhr.responseURL).pathname === work().dataset.login;
  function free() {
    underWay = false;
    work().removeAttribute("aria-busy");
  }
  const busy = () => work().setAttribute("aria-busy", "true");
  document.addEventListener("htmx:beforeRequest", () => {
    underWay = true;
    clearTimeout(rests);
    work().setAttribute("aria-busy", "true");
    document.getElementById("trouble").replaceChildren();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!onDoor(event.detail.xhr)) return;
    event.detail.shouldSwap = false;
    trouble("You are signed out, and your answer was not kept. ", door(), ", then come back and give it again.");
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const status = event.detail.xhr.status;
    if (event.detail.successful && !onDoor(event.detail.xhr)) return;
    free();
    if (event.detail.successful) return;
    trouble(status === 403
      ? "The page is too old to be sent: reload it, and give the answer again."
      : "The server did not answer as it should. As far as this page knows nothing was kept: give the answer again.");
  });
  // The second press of a double press, which comes when the next question is there already, is no answer to it.
  document.addEventListener("click", (event) => {
    if (!underWay || !event.target.closest("#work [data-key]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  document.addEventListener("htmx:afterSwap", busy);
  // What is asked now is read aloud, and the keys go on from there.
  document.addEventListener("htmx:afterSettle", () => {
    busy();
    rests = setTimeout(free, PAUSE);
    const asked = document.getElementById("asked");
    if (asked) asked.focus({ preventScroll: true });
  });
})();

// Artefact review by keys: j and k walk through the findings, e edits, w withdraws, c clears. The button that
// proposes a text fills the field in place. Without this file every button works, and the proposal is a page.
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const findings = () => Array.from(document.querySelectorAll(".finding"));
  const here = () => document.activeElement.closest(".finding") || document.querySelector(".finding:target");

  function go(step) {
    const all = findings();
    const place = all.indexOf(here());
    const next = all[place < 0 ? 0 : Math.min(all.length - 1, Math.max(0, place + step))];
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest" }); }
  }
  function edit(one) {
    const box = one.querySelector("details.change");
    box.open = true;
    one.querySelector("textarea").focus();
  }
  const press = (one, act) => one.querySelector(`button[value="${act}"]`)?.click();
  const typing = (node) => node.matches("input:not([type=hidden]), textarea, select");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target)) {
      if (event.key === "Escape") { event.target.closest(".finding")?.focus(); event.preventDefault(); }
      return;
    }
    const one = here();
    const acts = {
      j: () => go(1),
      k: () => go(-1),
      e: () => one && edit(one),
      w: () => one && press(one, "withdraw"),
      c: () => one && press(one, "clear"),
    };
    const act = acts[event.key];
    if (!act || event.repeat && "wc".includes(event.key)) return;
    event.preventDefault();
    act();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-cut]");
    if (!button || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const field = button.closest("form").querySelector("textarea");
    field.value = button.dataset.cut;
    field.focus();
  });

  // One press is one act, however fast the second comes.
  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) { event.preventDefault(); return; }
    event.target.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
  });

  // After an act the page comes back at the finding behind it; from then on keys go on from there.
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target) target.focus({ preventScroll: true });
})();

// All that is left is with others: counts down to when the next one frees at the latest, and looks again.
(() => {
  "use strict";
  const clock = document.getElementById("frees");
  if (!clock) return;
  document.documentElement.classList.add("js");
  const started = Date.now();
  const seconds = Number(clock.dataset.free) - Number(clock.dataset.now);
  const LOOK = 60;
  function tick() {
    const gone = Math.floor((Date.now() - started) / 1000);
    const left = Math.max(0, seconds - gone);
    clock.textContent = `${String(Math.floor(left / 60)).padStart(2, "0")}:${String(left % 60).padStart(2, "0")}`;
    // Looking again takes an item where one is free: only while somebody sees the page.
    if ((left === 0 || gone >= LOOK) && document.visibilityState === "visible") { clearInterval(timer); location.reload(); }
  }
  const timer = setInterval(tick, 1000);
  tick();
})();

// The review page: replies beside the path are fetched when somebody opens a fold, all of them at once.
// Without it each fold holds a link to the whole thread.
(() => {
  "use strict";
  const lazy = () => [...document.querySelectorAll(".work-tree details[data-lazy]")];
  let asked = "";

  async function fill() {
    const form = document.getElementById("review");
    const url = form && `${form.getAttribute("action")}tree/`;
    if (!url || asked === url) return;
    asked = url;
    try {
      const answer = await fetch(url, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const whole = document.createElement("template");
      whole.innerHTML = await answer.text();
      // The same tree, drawn whole: its folds are ours, in the same order.
      const drawn = [...whole.content.querySelectorAll("details.folded")];
      lazy().forEach((fold, index) => {
        if (!drawn[index]) return;
        fold.querySelector("ol").replaceChildren(...drawn[index].querySelector("ol").childNodes);
        fold.removeAttribute("data-lazy");
      });
    } catch {
      asked = ""; // the link in the fold leads there; opening it again tries again
    }
  }

  document.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches(".work-tree details[data-lazy]")) fill();
  }, true);
})();

// The review page, part 4 of 5: talking to the server. A failure leaves the form as it is and says so; the same
// submission id goes out again, so that the server stores one press once. A lapsed session is renewed in place.
(() => {
  "use strict";
  const Review = window.Review;
  const { keeping } = Review;
  const PATIENCE = 30000;
  const RENEW = 5 * 60 * 1000;
  let form = null;
  let busy = false;
  let kept = null;

  // --- What is said ----------------------------------------------------------------------------------------
  function icon(name) {
    const found = document.querySelector("svg.i").cloneNode(true);
    const use = found.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
    return found;
  }
  function button(label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "btn small quiet";
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  }
  // A failure stays until it is dealt with; there is one at a time.
  function trouble(words, ...buttons) {
    const toast = document.createElement("div");
    toast.className = "toast bad";
    const said = document.createElement("span");
    said.textContent = words;
    toast.append(icon("warn"), said, ...buttons, button("Dismiss", () => toast.remove()));
    document.getElementById("trouble").replaceChildren(toast);
  }
  const calm = () => document.getElementById("trouble").replaceChildren();
  // Words of success move to a place that stays, so that they are read aloud; they go by themselves.
  function toasts() {
    const lasting = document.getElementById("toasts");
    for (const toast of document.querySelectorAll("[data-fresh] .toast")) {
      lasting.replaceChildren(toast);
      const link = toast.querySelector("a");
      if (link && form) keeping.forget(new URL(link.href).pathname);
      const go = () => (toast.matches(":hover, :focus-within") ? setTimeout(go, 4000) : toast.remove());
      setTimeout(go, 8000);
    }
  }

  // --- One request -----------------------------------------------------------------------------------------
  const tokens = () => document.querySelectorAll("input[name=csrfmiddlewaretoken]");
  const token = () => tokens()[0].value;
  const isLogin = (answer) => answer.redirected && new URL(answer.url).pathname === kept.login;

  async function ask(address, options = {}) {
    try {
      const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(PATIENCE), ...options });
      if (isLogin(answer)) return { kind: "lapsed" };
      if (answer.status >= 500) return { kind: "lost", status: answer.status };
      return { kind: "answered", status: answer.status, text: await answer.text(), answer };
    } catch {
      return { kind: "lost" };
    }
  }
  // Sends what `body` makes. A form that is too old gets a new token and goes out once more; a lapsed session is
  // renewed first, except for what is `patient` and can wait.
  async function post(address, body, { patient = false } = {}) {
    for (let attempt = 0; ; attempt += 1) {
      const sent = body();
      sent.set("csrfmiddlewaretoken", token());
      const answer = await ask(address, { method: "POST", body: sent });
      if (answer.kind === "answered" && answer.status === 403 && attempt === 0) {
        const fresh = await refresh();
        if (fresh === "same") continue;
        if (fresh === "lost") return { kind: "lost" };
        answer.kind = "lapsed";
      }
      if (answer.kind !== "lapsed" || patient) return answer;
      if (!(await signIn())) return answer;
    }
  }
  // A new token, and whose page this browser shows now: "same", "other", "lapsed" or "lost".
  async function refresh() {
    const answer = await ask(`${kept.root}token/`, { headers: { Accept: "application/json" } });
    if (answer.kind !== "answered") return answer.kind;
    try {
      const said = JSON.parse(answer.text);
      if (said.person !== kept.person) return "other";
      for (const one of tokens()) one.value = said.token;
      return "same";
    } catch {
      return "lost";
    }
  }

  // --- Signing in again, in place --------------------------------------------------------------------------
  const door = () => document.getElementById("sign-in");
  let entering = null;
  function signIn() {
    if (entering) return entering;
    const dialog = door();
    const wrong = (words) => {
      dialog.querySelector(".wrong").hidden = !words;
      dialog.querySelector(".wrong span").textContent = words;
    };
    wrong("");
    dialog.querySelector("form").elements.password.value = "";
    dialog.showModal();
    dialog.querySelector("[name=password]").focus();
    entering = new Promise((done) => {
      const over = (came) => {
        entering = null;
        dialog.onclose = dialog.onsubmit = dialog.onclick = null;
        if (dialog.open) dialog.close();
        if (came) calm();
        done(came);
      };
      dialog.onclose = () => over(false);
      dialog.onclick = (event) => { if (event.target.closest("[value=no]")) dialog.close(); };
      dialog.onsubmit = async (event) => {
        event.preventDefault();
        const send = dialog.querySelector("[value=yes]");
        if (send.disabled) return;
        send.disabled = true;
        const refused = await enter(dialog.querySelector("form"));
        send.disabled = false;
        if (refused) wrong(refused); else over(true);
      };
    });
    return entering;
  }
  // "" when the same person is in again, else why not.
  async function enter(fields) {
    const lost = "The server cannot be reached. Try again.";
    let [page, csrf] = await doorPage();
    if (page && page.redirected) {
      // Somebody is signed in: this very person, perhaps in another tab, or somebody else, who makes room.
      if ((await refresh()) === "same") return "";
      await ask(kept.logout, { method: "POST", body: new URLSearchParams({ csrfmiddlewaretoken: csrf }) });
      [page, csrf] = await doorPage();
    }
    if (!page) return lost;
    const body = new URLSearchParams({ csrfmiddlewaretoken: csrf, username: fields.elements.username.value, password: fields.elements.password.value });
    const answer = await ask(kept.login, { method: "POST", body, headers: {} });
    if (answer.kind === "lost") return lost;
    if (answer.kind === "answered" && answer.status === 429) return "Too many wrong passwords: wait a quarter of an hour. Everything here is kept.";
    if (answer.kind === "answered" && !answer.answer.redirected) return "Name and password do not fit. Try again.";
    const who = await refresh();
    if (who === "same") return "";
    if (who === "lost") return lost;
    return `This page belongs to ${kept.name}. Sign in as ${kept.name} to send it.`;
  }
  async function doorPage() {
    const page = await ask(kept.login, { headers: {} });
    if (page.kind !== "answered") return [null, ""];
    const field = new DOMParser().parseFromString(page.text, "text/html").querySelector("[name=csrfmiddlewaretoken]");
    return [page.answer, field ? field.value : ""];
  }
  function offerSignIn() {
    trouble("Your session has ended. What you enter is kept in this browser.", button("Sign in again", async () => { if (await signIn()) keeping.save(); }));
  }

  // --- Another item in place of this one ---------------------------------------------------------------------
  // Puts the working part of `html` into the page; false where it has none.
  function swap(html, { focus = true } = {}) {
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("work");
    if (!fresh) return false;
    calm();
    document.getElementById("work").replaceWith(document.adoptNode(fresh));
    document.title = `${fresh.dataset.title} · SynthPAI Studio`;
    Review.begin({ focus });
    return true;
  }
  // Opens another address of the work in place; says `nothing` where there is none. Whether it went there.
  async function load(address, nothing) {
    if (busy) return false;
    busy = true;
    keeping.did();
    await keeping.save();
    const answer = await ask(address);
    busy = false;
    if (answer.kind === "lapsed") { if (await signIn()) return load(address, nothing); return false; }
    if (answer.kind === "lost") { trouble("The server did not answer. Nothing changed here.", button("Try again", () => { calm(); load(address, nothing); })); return false; }
    const goto = answer.answer.headers.get("X-Review-Goto");
    if (goto) { location.assign(goto); return true; }
    if (answer.status === 200 && swap(answer.text)) return true;
    if (answer.status >= 400) { keeping.say(nothing, { wrong: true }); Review.live(nothing); return false; }
    location.assign(answer.answer.url);
    return true;
  }

  // Sends a form of the work and shows what comes next.
  async function send(which, submitter, done = () => {}) {
    if (busy) return;
    busy = true;
    const buttons = [...document.querySelectorAll("#work button:not([type=button]):not([hidden])")];
    buttons.forEach((one) => { one.disabled = true; });
    keeping.did();
    keeping.say("Sending");
    await keeping.settled();
    const body = () => {
      const sent = new FormData(which);
      if (submitter && submitter.name) sent.set(submitter.name, submitter.value);
      return sent;
    };
    // What is typed from here on would be neither in the answer nor in a draft of the next page.
    const still = document.getElementById("review");
    const at = document.activeElement;
    if (still) still.inert = true;
    const answer = await post(which.getAttribute("action"), body);
    if (still) still.inert = false;
    if (at && at.isConnected && document.activeElement === document.body) at.focus({ preventScroll: true });
    busy = false;
    buttons.forEach((one) => { one.disabled = false; });
    keeping.say("");
    const again = () => button("Try again", () => { calm(); send(which, submitter, done); });
    if (answer.kind === "lapsed") { trouble("Not sent: your session has ended. Nothing is lost.", again()); return; }
    if (answer.kind === "lost") { trouble("Not sent: the server did not answer. Nothing is lost.", again()); return; }
    if (answer.status === 200) done();
    const goto = answer.answer.headers.get("X-Review-Goto");
    if (answer.status === 200 && goto) { location.assign(goto); return; }
    if ([200, 409, 422].includes(answer.status) && swap(answer.text)) return;
    if (answer.status === 200) { location.assign(answer.answer.url); return; }
    const why = answer.status === 403 ? "you may not do that any more" : `the server answered ${answer.status}`;
    trouble(`Not sent: ${why}. Nothing is lost; your draft is kept.`, again());
  }

  // --- Holding the item ----------------------------------------------------------------------------------------
  const leaseOf = () => (form ? form.elements.namedItem("lease_token").value : "");
  function holding(act) {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", token());
    body.set("lease_token", leaseOf());
    body.set("act", act);
    return body;
  }
  async function renew() {
    if (!leaseOf()) return;
    const mine = form;
    const answer = await post(`${form.getAttribute("action")}hold/`, () => holding("renew"), { patient: true });
    if (mine !== form || answer.kind !== "answered") return;
    const held = document.querySelector("#held .muted");
    if (answer.status === 409) {
      if (held) held.textContent = "Not held for you any more; you can still submit";
      keeping.say("Not held for you any more; you can still submit", { wrong: true });
    }
    if (answer.status !== 200 || !held) return;
    // In the clock of the site, as the page itself says it.
    const until = new Date(Date.parse(JSON.parse(answer.text).until) + 1000 * Number(held.parentElement.dataset.zone));
    held.textContent = `Yours until ${until.toISOString().slice(11, 16)}`;
  }
  setInterval(() => { if (keeping.active(RENEW)) renew(); }, RENEW);
  function leave() {
    if (leaseOf()) navigator.sendBeacon(`${form.getAttribute("action")}hold/`, holding("leave"));
  }

  // --- The drawer beside the work --------------------------------------------------------------------------------
  async function drawer(title, address) {
    const dialog = document.getElementById("drawer");
    const body = document.getElementById("drawer-body");
    document.getElementById("drawer-title").textContent = title;
    body.textContent = "Loading…";
    dialog.showModal();
    const answer = await ask(address);
    if (answer.kind === "answered" && answer.status === 200) {
      // Our own server's page, escaped there; a whole page gives its main part.
      const page = new DOMParser().parseFromString(answer.text, "text/html");
      const part = page.querySelector("main") || page.body;
      body.replaceChildren(...[...part.childNodes].map((node) => document.adoptNode(node)));
    } else {
      body.textContent = answer.kind === "lapsed" ? "Your session has ended. Close this and go on; you are asked to sign in when you submit." : "This could not be loaded. Close it and try again.";
    }
  }

  function begin(found) {
    form = found;
    const facts = (found || document.getElementById("keep")).dataset;
    kept = { person: facts.person, name: facts.name, root: facts.root, login: facts.login, logout: facts.logout, queue: facts.queue };
    if (location.pathname !== facts.here) history.replaceState(null, "", facts.here);
    toasts();
  }

  Review.sending = { begin, post, load, send, swap, signIn, offerSignIn, renew, leave, drawer, trouble };
})();

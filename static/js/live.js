// The page of a run while it goes on. htmx asks for what has changed and brings whole parts; here they are put
// into the page so that what the reader opened, marked or has the focus on stays. Without this file the parts
// are replaced as they are; without JavaScript the page has a link to refresh it.
"use strict";

const PATIENCE = 10000; // a page that nobody looks at asks this often, in ms
const list = (node) => node.querySelector(":scope > ol.tree");

// --- what the reader opened -------------------------------------------------------------------------------

// Puts the details that are open in `old` in the place of those of the same id in `fresh`, loaded as they are.
function carryOpen(old, fresh) {
  for (const one of old.querySelectorAll("details[open][id]")) {
    if (one.parentElement.closest("details[open][id]") && old.contains(one.parentElement.closest("details[open][id]"))) continue;
    const place = Array.from(fresh.querySelectorAll("details[id]")).find((other) => other.id === one.id);
    if (place) place.replaceWith(one);
  }
}

// How to find the element that has the focus again: by its id, else by what it does and where it stands.
function focused(box) {
  const one = document.activeElement;
  if (!one || !box.contains(one)) return null;
  const signs = (other) => [other.tagName, other.getAttribute("href"), other.getAttribute("value"), other.textContent.trim()].join("\n");
  const wanted = signs(one);
  return (fresh) => {
    if (one.isConnected) return one;
    if (one.id && document.getElementById(one.id)) return document.getElementById(one.id);
    return Array.from(fresh.querySelectorAll("a, button, summary, input, select")).find((other) => signs(other) === wanted);
  };
}

function exchange(old, fresh) {
  const again = focused(old);
  carryOpen(old, fresh);
  old.replaceWith(fresh);
  if (again) again(fresh)?.focus({ preventScroll: true });
}

// --- the growing thread -----------------------------------------------------------------------------------

// Makes `old`, a list of replies, read like `fresh`; items are told by their id.
function update(old, fresh) {
  const wanted = new Set(Array.from(fresh.children, (item) => item.id));
  Array.from(old.children).forEach((item) => wanted.has(item.id) || item.remove());
  Array.from(fresh.children).forEach((item, place) => {
    const known = Array.from(old.children).find((one) => one.id === item.id);
    if (!known) return old.insertBefore(item, old.children[place] || null);
    if (known !== old.children[place]) old.insertBefore(known, old.children[place]);
    return same(known, item);
  });
}

function same(known, item) {
  known.className = item.className;
  const [before, after] = [known, item].map((one) => one.querySelector(":scope > article"));
  if (before.dataset.v !== after.dataset.v) exchange(before, after);
  const [replies, more] = [list(known), list(item)];
  if (replies && more) update(replies, more);
  else if (more) known.append(more);
  else if (replies) replies.remove();
}

function grow(card, fresh) {
  const [tree, more] = [card, fresh].map((one) => one.querySelector(":scope > .card-body > ol.tree"));
  if (!tree || !more || fresh.dataset.thread !== card.dataset.thread) return false;
  update(tree, more);
  for (const part of [".card-head", ".thread-line"]) {
    const [before, after] = [card, fresh].map((one) => one.querySelector(`:scope > ${part}`));
    if (before && after && !before.isEqualNode(after)) exchange(before, after);
  }
  return true;
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const old = event.detail.target;
  const fresh = event.detail.fragment.querySelector(`#${old.id}`);
  if (!old.id || !fresh) return;
  event.detail.shouldSwap = false;
  if (old.id === "thread" && grow(old, fresh)) return;
  // A form that somebody is filling in is left alone while it is offered still.
  if (old.contains(document.activeElement) && document.activeElement.matches("input:not([type=hidden]), select, textarea") && fresh.querySelector("form")) return;
  exchange(old, fresh);
});

// --- what is behind a comment, and who wrote it -----------------------------------------------------------

document.addEventListener("toggle", (event) => {
  const one = event.target;
  if (!one.open || !one.dataset.load || one.dataset.loaded) return;
  one.dataset.loaded = "yes";
  const body = one.querySelector(":scope > .more-body");
  htmx.ajax("GET", one.dataset.load, { source: body, target: body, swap: "innerHTML" });
}, true);

// --- times, counted here so that all who watch can be sent the very same page -------------------------------

let ahead = 0; // how far this machine's clock is ahead of the site's, in ms

function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return seconds < 600 && seconds % 60 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(seconds / 60)} min`;
  const minutes = Math.floor(seconds / 60);
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
}

function count() {
  for (const one of document.querySelectorAll("[data-since]")) {
    const said = duration(Date.now() - ahead - Date.parse(one.dataset.since)) + (one.tagName === "TIME" ? " ago" : "");
    if (one.textContent !== said) one.textContent = said;
  }
}

function setClock() {
  const pulse = document.getElementById("pulse");
  if (pulse) ahead = Date.now() - Date.parse(pulse.dataset.now);
}

// --- whether the site answers -------------------------------------------------------------------------------

let lostAt = null;
let askedAt = 0;

const isPoll = (event) => event.detail.elt?.id === "pulse";
const clock = (date) => date.toTimeString().slice(0, 5);

function say(words) {
  const place = document.getElementById("contact");
  if (place.textContent !== words) place.textContent = words;
  place.hidden = !words;
}

function lost(event) {
  if (!isPoll(event)) return;
  const status = event.detail.xhr?.status || 0;
  lostAt ??= new Date();
  if (status === 403 || status === 404) say("This run cannot be watched any more: it is gone, or you may not see it. Reload the page to make sure.");
  else say(`No connection since ${clock(lostAt)}; trying again.`);
}

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isPoll(event)) return;
  if (document.hidden && Date.now() - askedAt < PATIENCE) event.preventDefault();
  else askedAt = Date.now();
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!isPoll(event)) return;
  // Whoever was signed out is led to the login, which is no part of this page.
  const away = event.detail.xhr.responseURL && !event.detail.xhr.responseURL.includes("/live/");
  if (away) {
    event.detail.shouldSwap = false;
    say("You were signed out. Reload the page to sign in and go on watching.");
  } else if (event.detail.xhr.status < 400) {
    lostAt = null;
    say("");
  }
});
for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) document.addEventListener(name, lost);
document.addEventListener("htmx:afterSettle", () => { setClock(); count(); });

setClock();
count();
setInterval(count, 1000);

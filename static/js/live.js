// The tree of a thread that grows while somebody reads it. htmx brings the whole card; here only what differs
// is put into the page, so that the place on the page, a selection and the focus stay. Without this file the
// card is replaced as a whole, without JavaScript the page has a link to refresh it.
"use strict";

const list = (node) => node.querySelector(":scope > ol.tree");

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
  if (!before.isEqualNode(after)) before.replaceWith(after);
  const [replies, more] = [list(known), list(item)];
  if (replies && more) update(replies, more);
  else if (more) known.append(more);
  else if (replies) replies.remove();
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const card = event.detail.target;
  const fresh = event.detail.fragment.querySelector("#thread");
  if (card.id !== "thread" || !fresh || fresh.dataset.thread !== card.dataset.thread) return;
  const [tree, more] = [card, fresh].map((one) => one.querySelector(":scope > .card-body > ol.tree"));
  if (!tree || !more) return;
  update(tree, more);
  for (const part of [".card-head", ".thread-line"]) {
    const [before, after] = [card, fresh].map((one) => one.querySelector(`:scope > ${part}`));
    if (before && after && !before.isEqualNode(after)) before.replaceWith(after);
  }
  event.detail.shouldSwap = false;
});

// The review page, part 1 of 5: text. Places in it are counted in code points, as the server counts them;
// the browser itself counts UTF-16 units. Loaded before the page is drawn, so that rows start out folded.
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const Review = (window.Review = {});

  // How many code points the first `units` UTF-16 units of `text` are. A place inside of a pair counts as behind it.
  function points(text, units) {
    let count = 0;
    for (let at = 0; at < units && at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
    return count;
  }
  // The other way round: where the code point number `count` begins in UTF-16 units.
  function units(text, count) {
    let at = 0;
    for (let seen = 0; seen < count && at < text.length; seen += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
    return at;
  }

  const low = (text, at) => text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff;

  // The place of `from`..`to` (UTF-16 units) in `text` without blanks at its ends; null for blanks alone.
  function quoteAt(text, from, to) {
    let [start, end] = [low(text, from) ? from - 1 : from, low(text, to) ? to + 1 : to];
    while (start < end && /\s/.test(text[start])) start += 1;
    while (end > start && /\s/.test(text[end - 1])) end -= 1;
    if (start >= end) return null;
    return { start: points(text, start), end: points(text, end), quote: text.slice(start, end) };
  }

  // The text of the page stands in one element a comment; marks add elements, never signs.
  function unitsBefore(element, container, offset) {
    const before = document.createRange();
    before.selectNodeContents(element);
    before.setEnd(container, offset);
    return before.toString().length;
  }
  function partIn(range, element) {
    if (!range.intersectsNode(element)) return null;
    const text = element.textContent;
    const from = element.contains(range.startContainer) ? unitsBefore(element, range.startContainer, range.startOffset) : 0;
    const to = element.contains(range.endContainer) ? unitsBefore(element, range.endContainer, range.endOffset) : text.length;
    const found = quoteAt(text, from, to);
    return found && { comment: element.dataset.comment, ...found };
  }

  // What is selected in the comment or one above it: a quote, or { problem } in words.
  function selected() {
    const selection = document.getSelection();
    const range = selection && selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const found = range ? [...document.querySelectorAll("[data-comment]")].map((one) => partIn(range, one)).filter(Boolean) : [];
    if (found.length > 1) return { problem: "Select within one comment" };
    return found[0] || { problem: "Select words of the comment, or of one above it, first" };
  }

  // Marks. `quotes` have start, end (code points) and row (its number); they may overlap.
  const drawn = new WeakMap();
  function mark(element, quotes, now) {
    const signature = JSON.stringify(quotes);
    if (drawn.get(element) !== signature) {
      drawn.set(element, signature);
      const kept = keepSelection(element);
      draw(element, quotes);
      kept();
    }
    for (const one of element.querySelectorAll("mark")) one.classList.toggle("now", one.dataset.rows.split(" ").includes(now));
  }
  function draw(element, quotes) {
    const text = element.textContent;
    const spans = quotes.map((one) => ({ from: units(text, one.start), to: units(text, one.end), row: one.row })).filter((one) => one.from < one.to);
    const cuts = [...new Set([0, text.length, ...spans.flatMap((one) => [one.from, one.to])])].sort((a, b) => a - b);
    const parts = cuts.slice(1).map((to, index) => {
      const words = text.slice(cuts[index], to);
      const over = spans.filter((one) => one.from <= cuts[index] && one.to >= to);
      if (!over.length) return document.createTextNode(words);
      const marked = document.createElement("mark");
      marked.className = "ev";
      marked.textContent = words;
      marked.dataset.rows = [...new Set(over.map((one) => String(one.row)))].join(" ");
      const ending = [...new Set(over.filter((one) => one.to === to).map((one) => one.row))].sort();
      if (ending.length) marked.dataset.ends = ending.join(", ");
      return marked;
    });
    element.replaceChildren(...parts);
  }
  // Drawing marks makes new nodes: what was selected is selected again.
  function keepSelection(element) {
    const selection = document.getSelection();
    if (!selection || !selection.rangeCount || selection.isCollapsed) return () => {};
    const range = selection.getRangeAt(0);
    if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) return () => {};
    const places = [unitsBefore(element, range.startContainer, range.startOffset), unitsBefore(element, range.endContainer, range.endOffset)];
    return () => {
      const again = document.createRange();
      const [start, end] = places.map((place) => nodeAt(element, place));
      again.setStart(...start);
      again.setEnd(...end);
      selection.removeAllRanges();
      selection.addRange(again);
    };
  }
  function nodeAt(element, place) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let left = place;
    let node = walker.nextNode();
    while (node && left > node.length) {
      left -= node.length;
      node = walker.nextNode();
    }
    return node ? [node, left] : [element, element.childNodes.length];
  }

  Review.text = { points, units, quoteAt, selected, mark };
})();

// What the parts of the script share. Data is only ever set as text: no markup is made from it, and
// the policy of the page forbids it.

const VERDICTS = ["dropped", "over-constrained", "untested", "enforced"];
const SIGNS = ["\u2717", "\u25B2", "?", "\u2713"];
const SIGN_OF = {
  exact: "\u2713", leaks: "\u2717", "over-constrained": "\u25B2",
  "dead-end": "\u2717", "broken-json": "\u2717", refused: "\u2013",
};
const SAID = [
  "Invalid by the schema, and the engine lets it be written:",
  "Valid by the schema, and the engine does not let it be written:",
  "", "",
];
const CHUNK = 200; // members, and schemas, that are shown at once
const MOST_ROWS = 2000; // of a tree
const OPENED = 150; // rows that are opened unasked

const schemas = JSON.parse(document.getElementById("audit").textContent);
const list = document.getElementById("schemas");
const panel = document.getElementById("panel");
const status = document.getElementById("status"); // what a screen reader says at once
const cards = [];
let filter = -1; // a verdict's number; -1 for all
let chosen = null; // the row whose details are in the panel: [tree, node]

function make(tag, style, ...inside) {
  const made = document.createElement(tag);
  if (style) made.className = style;
  made.append(...inside);
  return made;
}

function button(style, action, ...inside) {
  const made = make("button", style, ...inside);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

const number = (count) => count.toLocaleString("en");

// A schema: a heading that opens its tree, which is made when it is first opened.
class Card {
  constructor(schema) {
    this.schema = schema;
    this.tree = null;
    const badge = make("span", `badge is-${schema.verdict}`, `${SIGN_OF[schema.verdict]} ${schema.verdict}`);
    const counts = make("span", "counts");
    schema.counts.forEach((count, verdict) => {
      if (!count) return;
      const part = make("span", `is-${VERDICTS[verdict]}`, `${SIGNS[verdict]} ${number(count)}`);
      part.append(make("span", "hidden", ` ${VERDICTS[verdict]}`));
      counts.append(part);
    });
    this.button = button(
      "", () => this.show(this.body.hidden), badge,
      make("span", "name", schema.name || "schema"),
      make("span", "where", schema.pointer ? `${schema.file} #${schema.pointer}` : schema.file), counts,
    );
    this.body = make("div", "body");
    this.element = make("section", "schema", make("h2", "", this.button), this.body);
    this.show(false);
  }

  show(open) {
    this.body.hidden = !open;
    this.button.setAttribute("aria-expanded", open);
    if (open && !this.body.hasChildNodes()) this.fill();
  }

  fill() {
    const { schema } = this;
    const reason = make("p", "", schema.reason);
    if (schema.verdict === "dead-end" || schema.verdict === "broken-json") {
      reason.append(" ", button("link", () => choose(this, -1), "Show the text"));
    }
    this.body.append(reason);
    if (schema.nodes.length) {
      this.tree = new Tree(schema);
      this.body.append(this.tree.host);
    }
    if (schema.more) {
      this.body.append(make("p", "small", `${number(schema.more)} more members of the schema are not on this page.`));
    }
    for (const [freedom, witness, written] of schema.spelling) {
      const line = make("p", "small", `Spelling (${freedom}): not `, make("code", "", witness));
      line.append(", but ", make("code", "", written));
      this.body.append(line);
    }
    this.body.append(make("p", "small", schema.about));
  }

  // What is said about a schema as a whole has no row; its heading stands for it.
  select() {
    return this.button;
  }

  filtered() {
    this.element.hidden = filter >= 0 && !this.schema.counts[filter];
    if (this.tree) this.tree.reset();
  }
}

// The panel.
function choose(owner, index) {
  if (chosen) chosen[0].select(chosen[1], false);
  chosen = [owner, index];
  owner.select(index, true);
  const { schema } = owner;
  const found = index < 0 ? [] : owner.nodes[index][4];
  const parts = found.map((at) => constraint(schema, schema.constraints[at]));
  if (index < 0) {
    parts.push(make(
      "div", `one is-${schema.verdict}`, make("h2", "", schema.name || "schema"),
      make("span", `badge is-${schema.verdict}`, `${SIGN_OF[schema.verdict]} ${schema.verdict}`),
      make("p", "", schema.reason), ...text(schema, schema.witness, "The text:"),
    ));
  }
  panel.className = "";
  panel.replaceChildren(button("close", unchoose, "Close"), ...parts);
  panel.scrollTop = 0;
  const heads = parts.map((part) => part.querySelector("h2").textContent);
  status.textContent = `Details: ${heads.join(", ")}`;
}

function unchoose() {
  const before = chosen;
  chosen = null;
  panel.className = "idle";
  panel.replaceChildren(
    make("h2", "", "Details"),
    make("p", "empty", "Choose a marked line to see the witness, and how it was written token by token."),
    make("p", "empty", "Keys: arrows move, Enter opens, Enter again goes to the details, Escape comes back."),
  );
  if (!before) return;
  const row = before[0].select(before[1], false);
  if (row) row.focus({ preventScroll: true });
}

function constraint(schema, [pointer, keyword, verdict, reason, witness]) {
  return make(
    "div", `one is-${VERDICTS[verdict]}`, make("h2", "", keyword),
    make("span", "badge", `${SIGNS[verdict]} ${VERDICTS[verdict]}`),
    make("p", "pointer", make("code", "", `#${pointer}`)), make("p", "", reason),
    ...text(schema, witness, SAID[verdict]),
  );
}

function text(schema, index, said) {
  if (index < 0) return [];
  const [witness, output, path] = schema.texts[index];
  const parts = [make("h3", "", "Witness"), make("p", "", said)];
  parts.push(make("div", "witness", witness || "(the empty text)"));
  if (output !== null) parts.push(make("p", "", "Written as:"), make("div", "witness", output));
  parts.push(make("h3", "", "Token path"));
  if (!path) {
    parts.push(make("p", "small", "Not kept: there were too many, or too long ones."));
    return parts;
  }
  parts.push(tokens(path));
  const last = path.choices[path.choices.length - 1];
  let end = "Every token was allowed, to the end of the text.";
  if (path.refused && !last) end = "Here no token is allowed, and the text may not end: a dead end.";
  else if (path.refused) {
    end = `The last one was refused. Allowed there: ${path.instead.map(visible).join("  ")}`;
    if (last > path.instead.length) end += ` \u2026 ${number(last - path.instead.length)} more`;
  }
  parts.push(make("p", "", end));
  parts.push(make(
    "p", "small", "Under each token: how many tokens the mask allowed there. "
    + "\u201C1\u201D leaves the model no choice.",
  ));
  return parts;
}

const visible = (token) => (token === "" ? "end" : token === " " ? "\u2423" : token);

function tokens(path) {
  const made = make("ol", "tokens");
  made.setAttribute("aria-label", "Tokens");
  path.tokens.forEach((token, index) => {
    if (path.skipped && index === path.skipped_at) {
      made.append(make("li", "gap", `\u2026 ${number(path.skipped)} more`));
    }
    const choices = path.choices[index];
    const refused = path.refused && index === path.tokens.length - 1;
    const style = refused ? "no" : choices === 1 ? "only" : "";
    const item = make("li", style, make("b", "", visible(token)));
    const under = make("span", "", refused ? "\u2717 refused" : number(choices));
    if (!refused) under.append(make("span", "hidden", " allowed"));
    item.append(under);
    made.append(item);
  });
  return made;
}

function grow() {
  const from = cards.length;
  // Further ones are made when they are asked for.
  for (const schema of schemas.slice(from, from + CHUNK)) {
    const card = new Card(schema);
    cards.push(card);
    card.filtered();
    list.append(card.element);
  }
  const left = schemas.length - cards.length;
  if (!left) return;
  const next = button("link", () => { next.remove(); grow(); cards[from + CHUNK].button.focus(); },
    `Show ${number(Math.min(CHUNK, left))} of ${number(left)} more schemas`);
  list.append(next);
}

for (const one of document.querySelectorAll(".filters button")) {
  one.addEventListener("click", () => {
    filter = VERDICTS.indexOf(one.dataset.verdict);
    for (const other of document.querySelectorAll(".filters button")) {
      other.setAttribute("aria-pressed", other === one);
    }
    for (const card of cards) card.filtered();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen) unchoose();
});

grow();
unchoose();
const first = cards.find((card) => card.schema.verdict !== "exact") || cards[0];
if (first) first.show(true);

// One schema's tree. Nodes are rows [level, key, text, members, constraints], parents first.
class Tree {
  constructor(schema) {
    this.schema = schema;
    this.nodes = schema.nodes;
    this.parent = [];
    this.end = new Uint32Array(this.nodes.length);
    const way = [];
    this.nodes.forEach(([level], index) => {
      while (way.length > level) this.end[way.pop()] = index;
      this.parent.push(level ? way[level - 1] : -1);
      way.push(index);
    });
    while (way.length) this.end[way.pop()] = this.nodes.length;
    this.items = new WeakMap(); // element -> what it shows
    this.cursor = 0;
    this.host = make("div", "tree");
    this.host.setAttribute("role", "tree");
    this.host.setAttribute("aria-label", `Schema ${schema.name}`);
    this.host.addEventListener("click", (event) => this.clicked(event));
    this.host.addEventListener("keydown", (event) => this.pressed(event));
    this.reset();
  }

  worst(index) {
    return Math.min(...this.nodes[index][4].map((at) => this.schema.constraints[at][2]));
  }

  has(index, verdict) {
    return this.nodes[index][4].some((at) => this.schema.constraints[at][2] === verdict);
  }

  // What the filter leaves, and what of it is open to begin with.
  reset() {
    const count = this.nodes.length;
    this.open = new Set();
    this.shown = new Map();
    this.keep = null;
    let wanted = (index) => this.nodes[index][4].length && this.worst(index) < 3;
    if (filter >= 0) {
      this.keep = new Uint8Array(count);
      wanted = (index) => this.has(index, filter);
      for (let index = count - 1; index >= 0; index--) {
        if (wanted(index)) this.keep[index] = 1;
        if (this.keep[index] && index) this.keep[this.parent[index]] = 1;
      }
    } else if (count <= OPENED) {
      for (let index = 0; index < count; index++) this.open.add(index);
    }
    let rows = 0;
    for (let index = 0; index < count && rows < OPENED; index++) {
      if (index > 1 && !wanted(index)) continue;
      rows += 1;
      for (let at = this.parent[index]; at >= 0 && !this.open.has(at); at = this.parent[at]) {
        this.open.add(at);
        rows += 1;
      }
    }
    this.cursor = 0;
    this.render();
  }

  members(index) {
    const found = [];
    for (let at = index + 1; at < this.end[index]; at = this.end[at]) {
      if (!this.keep || this.keep[at]) found.push(at);
    }
    return found;
  }

  visible() {
    const rows = [];
    const stack = this.nodes.length ? [{ node: 0, place: 1, of: 1 }] : [];
    while (stack.length) {
      const item = stack.pop();
      if (rows.length === MOST_ROWS) return { rows, full: true };
      rows.push(item);
      if (item.left || !this.open.has(item.node)) continue;
      const inside = this.members(item.node);
      const limit = this.shown.get(item.node) || CHUNK;
      if (inside.length > limit) {
        stack.push({ node: item.node, left: inside.length - limit, place: limit + 1, of: inside.length });
      }
      for (let at = Math.min(limit, inside.length) - 1; at >= 0; at--) {
        stack.push({ node: inside[at], place: at + 1, of: inside.length });
      }
    }
    return { rows, full: false };
  }

  render() {
    const hadFocus = this.host.contains(document.activeElement);
    const { rows, full } = this.visible();
    this.elements = new Map(); // node -> its row
    const made = rows.map((item) => this.row(item));
    let current = rows.findIndex((item) => !item.left && item.node === this.cursor);
    if (current < 0) current = 0;
    if (made.length) made[current].tabIndex = 0;
    if (full) made.push(make("div", "row small", "There is more: close something above to see it."));
    this.host.replaceChildren(...made);
    if (hadFocus && made.length) made[current].focus({ preventScroll: true });
  }

  row(item) {
    const [level, key, text, inside, found] = this.nodes[item.node];
    const row = make("div", "row");
    row.setAttribute("role", "treeitem");
    row.tabIndex = -1;
    row.setAttribute("aria-level", (item.left ? level + 1 : level) + 1);
    row.setAttribute("aria-posinset", item.place);
    row.setAttribute("aria-setsize", item.of);
    this.items.set(row, item);
    if (!item.left) this.elements.set(item.node, row);
    const mark = make("span", "mark");
    const indent = make("span", "indent");
    indent.style.setProperty("--level", item.left ? level + 1 : level);
    if (item.left) {
      row.classList.add("more");
      const next = Math.min(CHUNK, item.left);
      row.append(mark, indent, `Show ${number(next)} of ${number(item.left)} more`);
      return row;
    }
    const isOpen = this.open.has(item.node);
    if (inside) row.setAttribute("aria-expanded", isOpen);
    const twist = make("span", "twist", inside ? (isOpen ? "\u25BE" : "\u25B8") : "");
    twist.setAttribute("aria-hidden", "true");
    const content = make("span", "content");
    row.append(mark, indent, twist, content);
    if (key !== null) content.append(make("span", "key", `${key}:`), " ");
    if (inside) {
      const folded = isOpen ? text[0] : `${text[0]} ${number(inside)} ${text[1]}`;
      content.append(make("span", "fold", folded));
    } else {
      content.append(make("span", "text", text));
    }
    if (found.length) {
      const worst = this.worst(item.node);
      row.classList.add("marked", `is-${VERDICTS[worst]}`);
      row.setAttribute("aria-selected", Boolean(chosen && chosen[0] === this && chosen[1] === item.node));
      const sign = make("span", "", `${SIGNS[worst]} `);
      sign.setAttribute("aria-hidden", "true");
      mark.append(sign, VERDICTS[worst] + (found.length > 1 ? ` +${found.length - 1}` : ""));
      const witness = this.schema.texts[this.schema.constraints[found[0]][4]];
      if (witness && worst < 2) {
        const cut = witness[0].length > 70 ? `${witness[0].slice(0, 70)}\u2026` : witness[0];
        content.append(make("span", "note", `${worst ? "not" : "lets through"} ${cut}`));
      }
    }
    return row;
  }

  toggle(index, open) {
    if (!this.nodes[index][3]) return;
    if (open) this.open.add(index);
    else this.open.delete(index);
    this.cursor = index;
    this.render();
  }

  more(item) {
    this.shown.set(item.node, (this.shown.get(item.node) || CHUNK) + CHUNK);
    this.cursor = this.members(item.node)[item.place - 1];
    this.render();
  }

  act(item) {
    if (item.left) return this.more(item);
    this.cursor = item.node;
    if (!this.nodes[item.node][4].length) return this.toggle(item.node, !this.open.has(item.node));
    return choose(this, item.node);
  }

  select(index, selected) {
    const row = this.elements.get(index);
    if (row) row.setAttribute("aria-selected", selected);
    return row;
  }

  clicked(event) {
    const row = event.target.closest(".row");
    const item = row && this.items.get(row);
    if (!item) return;
    this.focus(row, item);
    if (event.target.classList.contains("twist")) this.toggle(item.node, !this.open.has(item.node));
    else this.act(item);
  }

  pressed(event) {
    const row = event.target.closest(".row");
    const item = row && this.items.get(row);
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const isOpen = !item.left && this.open.has(item.node);
    let to = null;
    if (event.key === "ArrowDown") to = row.nextElementSibling;
    else if (event.key === "ArrowUp") to = row.previousElementSibling;
    else if (event.key === "Home") to = this.host.firstElementChild;
    else if (event.key === "End") to = this.host.lastElementChild;
    else if (event.key === "Enter" || event.key === " ") {
      const again = chosen && chosen[0] === this && chosen[1] === item.node && !item.left;
      if (again) panel.focus();
      else this.act(item);
    }
    else if (event.key === "ArrowRight") {
      if (isOpen) to = row.nextElementSibling;
      else if (!item.left) this.toggle(item.node, true);
    } else if (event.key === "ArrowLeft") {
      if (isOpen && this.nodes[item.node][3]) this.toggle(item.node, false);
      else {
        const up = item.left ? item.node : this.parent[item.node];
        to = [...this.host.children].find((other) => {
          const there = this.items.get(other);
          return there && !there.left && there.node === up;
        });
      }
    } else return;
    event.preventDefault();
    const there = to && this.items.get(to);
    if (!there) return;
    this.focus(to, there);
    to.scrollIntoView({ block: "nearest", inline: "start" });
  }

  // One row at a time is reached with the Tab key.
  focus(row, item) {
    for (const other of this.host.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    row.tabIndex = 0;
    row.focus({ preventScroll: true });
    if (!item.left) this.cursor = item.node;
  }
}

// The tree of modules by path. Branches are built when they are opened.
const tree = (() => {
  function node(name) {
    return { name, children: new Map(), layers: [], status: "none", path: null };
  }
  const rank = { none: 0, pass: 1, gone: 2, fail: 3 };
  const roots = node("");
  const nodeOf = new Map();

  function build() {
    for (const l of layers) {
      const c = call(l);
      let parts = c.path ? c.path.split(".") : [];
      let extra = null;
      if (c.path === null) {  // a function hangs under the module that calls it
        parts = callerPath(l).split(".").filter(Boolean);
        extra = c.type + "()";
      }
      let at = child(roots, c.root || "outside of modules");
      const way = [at];
      for (const part of parts) way.push((at = child(at, part)));
      if (extra !== null) way.push((at = child(at, extra)));
      at.layers.push(l);
      nodeOf.set(l, way);
      for (const n of way) if (rank[l.status] > rank[n.status]) n.status = l.status;
    }
  }
  function child(parent, name) {
    if (!parent.children.has(name)) parent.children.set(name, node(name));
    return parent.children.get(name);
  }
  const worstLayer = (n) => n.layers.find((l) => l.status === "fail") || n.layers[0];

  function label(n) {
    const l = worstLayer(n);
    const type = l && call(l).path !== null ? layerType(l) : "";
    return [el("span", { class: "status " + n.status, title: statusText[n.status] }), " ", n.name + " ", el("small", {}, type, n.layers.length > 1 ? ` ×${n.layers.length}` : "")];
  }
  function element(n) {
    const choose = () => select(worstLayer(n), "tree");
    if (!n.children.size) return (n.element = el("button", { title: n.name, click: choose }, label(n)));
    const inner = el("div", {});
    const open = () => {
      if (!inner.children.length) inner.append(...[...n.children.values()].map(element));
    };
    n.summary = el("summary", { click: () => n.layers.length && choose() }, label(n));
    n.element = el("details", { toggle: open }, n.summary, inner);
    n.open = () => {
      open();
      n.element.open = true;
    };
    return n.element;
  }
  let marked = null;
  function mark(layer, from) {
    const way = nodeOf.get(layer);
    for (const n of way.slice(0, -1)) if (n.open) n.open();
    if (marked) marked.classList.remove("selected");
    const last = way[way.length - 1];
    marked = last.summary || last.element;
    marked.classList.add("selected");
    const box = $("tree");
    if (from !== "tree" && box.scrollHeight > box.clientHeight) box.scrollTop += marked.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  }
  function start() {
    build();
    for (const n of roots.children.values()) {
      $("tree").append(element(n));
      if (n.open) n.open();
    }
    selection.listeners.push(mark);
  }
  return { start };
})();

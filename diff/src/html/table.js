// The table of layers: sorted by any column, filtered by text and state; and the table of parameters and states.
const table = (() => {
  const metric = (key, digits) => ({ value: (l) => (l.shown && l.shown.compared ? number(l.shown.metrics[key]) : undefined), text: digits });
  const steps = new Set(layers.map((l) => l.step)).size > 1;
  const columns = [
    { name: "#", numeric: true, value: (l) => layers.indexOf(l), text: (v) => String(v + 1) },
    { name: "layer", value: layerName },
    { name: "type", value: layerType },
    steps && { name: "step", numeric: true, value: (l) => l.step, text: String },
    { name: "max abs", title: "largest |test − ref|", numeric: true, ...metric("max_abs", short) },
    { name: "out", title: "share of elements out of tolerance", numeric: true, ...metric("share_out", percent) },
    { name: "verdict", optional: true, value: (l) => (isAlone(l) ? l.match.replace("_", " ") : l.verdict === "none" ? "" : l.verdict) },
    { name: "cause", optional: true, value: (l) => l.hints.map((h) => h.text).join("; ") },
    { name: "max rel", title: "largest |test − ref| / |ref| of elements above atol", numeric: true, ...metric("max_rel", short) },
    { name: "cosine", title: "of the angle between the two as vectors", numeric: true, ...metric("cosine", (v) => (v === undefined ? "" : v.toFixed(6))) },
    { name: "SNR dB", title: "signal to noise: the reference against the error", numeric: true, ...metric("snr_db", (v) => (v === Infinity ? "equal" : v === undefined ? "" : v.toFixed(1))) },
    { name: "ULP", title: "largest error in units of the last place", numeric: true, ...metric("max_ulp", short) },
    { name: "inherited", optional: true, title: "error that came in with the inputs, relative", numeric: true, value: (l) => (l.split ? number(l.split.inherited) : undefined), text: short },
    { name: "added", optional: true, title: "error that the layer itself adds, relative", numeric: true, value: (l) => (l.split ? number(l.split.added) : undefined), text: short },
  ].filter((c) => c && (!c.optional || layers.some((l) => c.value(l))));
  for (const c of columns) c.text = c.text || ((v) => v || "");
  const rows = new Map();
  let sorted = { column: 0, down: false }, body, filter, state, count;

  function row(layer) {
    const first = layer === firstForward || layer === firstBackward;
    const tr = el("tr", { tabindex: -1, class: first ? "first" : null, "data-layer": layer.id });
    columns.forEach((c, i) => {
      const text = c.text(c.value(layer));
      const td = el("td", { class: c.numeric ? "number" : null, title: text.length > 24 ? text : null });
      if (i === 1) td.append(el("span", { class: "status " + layer.status, title: statusText[layer.status] }), " ", text);
      else td.append(text);
      if (c.name === "out" && layer.shown && !layer.shown.pass && !layer.container) td.classList.add("bad");
      tr.append(td);
    });
    return tr;
  }
  function order() {
    const c = columns[sorted.column], sign = sorted.down ? -1 : 1;
    const keyed = layers.map((l) => [c.value(l), l]);
    const missing = (v) => v === undefined || v === "";
    keyed.sort(([a, k], [b, m]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b) || layers.indexOf(k) - layers.indexOf(m);
      if (Number.isNaN(a) || Number.isNaN(b)) return sign * (Number.isNaN(a) - Number.isNaN(b));
      return sign * (a < b ? -1 : a > b ? 1 : 0) || k.place - m.place;
    });
    return keyed.map(([, l]) => l);
  }
  function visible(layer) {
    const text = filter.value.trim().toLowerCase();
    const kind = { all: true, differs: layer.status === "fail", bug: layer.verdict === "bug", gone: layer.status === "gone",
                   leaves: !layer.container }[state.value];
    return kind && (!text || layer.search.includes(text));
  }
  function show() {
    const list = order().filter(visible);
    body.replaceChildren(...list.map((l) => rows.get(l)));
    count.textContent = list.length === layers.length ? layers.length + " layers" : list.length + " of " + layers.length + " layers";
  }
  function sortBy(i, header) {
    sorted = { column: i, down: sorted.column === i ? !sorted.down : columns[i].numeric && i > 0 };
    for (const th of header.children) th.removeAttribute("aria-sort");
    header.children[i].setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    show();
  }
  function keys(event) {
    const tr = event.target.closest("tr");
    const next = { ArrowDown: tr.nextElementSibling, ArrowUp: tr.previousElementSibling, Home: body.firstElementChild, End: body.lastElementChild }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
    select(byId.get(+next.dataset.layer), "table");
  }
  function start() {
    layers.forEach((l, i) => {
      l.place = i;
      l.search = [...sides(l).flatMap((c) => [c.path || "", c.type]), ...l.hints.map((h) => h.text), l.verdict].join(" ").toLowerCase();
    });
    columns[0].value = (l) => l.place;
    for (const l of layers) rows.set(l, row(l));
    body = el("tbody", { keydown: keys, click: (e) => pick(e), focusin: (e) => pick(e) });
    filter = el("input", { type: "search", placeholder: "filter: path, type, cause", "aria-label": "Filter layers", input: show });
    state = el("select", { "aria-label": "Which layers", change: show },
               [["all", "all"], ["differs", "that differ"], ["bug", "verdict bug"], ["gone", "on one side alone"], ["leaves", "without containers"]].map(
                   ([v, t]) => el("option", { value: v }, t)));
    count = el("output", {});
    const header = el("tr", {});
    columns.forEach((c, i) => header.append(el("th", { scope: "col", class: c.numeric ? "number" : null, title: c.title, "aria-sort": i === 0 ? "ascending" : null },
                                               el("button", { click: () => sortBy(i, header) }, c.name))));
    $("layers").append(el("div", { class: "tools" }, el("h2", {}, "Layers"), filter, state, count),
                       el("div", { class: "scroll" }, el("table", {}, el("thead", {}, header), body)));
    show();
    selection.listeners.push(mark);
  }
  function pick(event) {
    const tr = event.target.closest("tr");
    if (tr) select(byId.get(+tr.dataset.layer), "table");
  }
  let marked = null;
  function mark(layer, from) {
    if (marked) set(marked, { tabindex: -1 }), marked.classList.remove("selected");
    marked = rows.get(layer);
    marked.classList.add("selected");
    set(marked, { tabindex: 0 });
    const box = marked.closest(".scroll");
    if (from !== "table" && box) box.scrollTop = marked.offsetTop - box.clientHeight / 3;
  }

  /** Parameters, gradients, updates and optimizer states that differ. */
  function states() {
    const failing = report.state.filter((s) => !s.tensor.pass);
    if (!failing.length) return;
    const names = { parameter: "before the step", updated_parameter: "after the step", parameter_grad: "gradient", buffer: "buffer", updated_buffer: "buffer after the step" };
    const lines = failing.map((s) => {
      const t = s.tensor, m = t.compared ? t.metrics : null;
      const cells = [(s.path ? s.path + "." : "") + s.name, names[s.kind] || s.kind.replace("_", " "), s.step, m ? short(m.max_abs) : "", m ? percent(m.share_out) : "",
                     [t.problem, ...s.hints.map((h) => h.text), t.note].filter(Boolean).join("; ")];
      return el("tr", { class: s === firstState ? "first" : null }, cells.map((c, i) => el("td", { class: i > 1 && i < 5 ? "number" : null, title: i === 5 ? c : null },
          i === 0 ? el("span", { class: "status fail" }) : null, String(c))));
    });
    $("states").hidden = false;
    $("states").append(el("h2", {}, `Parameters and states that differ: ${failing.length} of ${report.state.length}`),
                       el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {},
                         ["name", "what", "step", "max abs", "out", "why"].map((n, i) => el("th", { scope: "col", class: i > 1 && i < 5 ? "number" : null }, el("span", { style: "padding: 4px 8px" }, n))))),
                         el("tbody", {}, lines))));
  }
  return { start, states };
})();

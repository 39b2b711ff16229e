// Error by depth: the largest absolute error of each layer's outputs and gradients, in the order of the calls.
const plot = (() => {
  const height = 230, left = 46, right = 12, top = 22, bottom = 20;
  const shown = layers.filter((l) => (l.worstOutput && l.worstOutput.compared) || (l.worstGradient && l.worstGradient.compared));
  const place = new Map(shown.map((l, i) => [l, i]));
  const series = [
    { name: "forward", of: (l) => l.worstOutput, first: firstForward },
    { name: "backward", of: (l) => l.worstGradient, first: firstBackward },
  ];
  const value = (t) => (t && t.compared ? number(t.metrics.max_abs) : undefined);
  const finite = shown.flatMap((l) => series.map((s) => value(s.of(l)))).filter((v) => v > 0 && v < Infinity);
  for (const l of shown) for (const s of series) if (s.of(l)) finite.push(s.of(l).tolerance.atol || 1e-12);
  const high = Math.ceil(Math.log10(finite.reduce((a, b) => Math.max(a, b), 1e-3)) + 0.3);
  const low = Math.max(Math.floor(Math.log10(finite.reduce((a, b) => Math.min(a, b), 1e-6)) - 0.3), high - 14);
  let width = 0, cursor = null;

  const x = (i) => left + ((i + 0.5) / shown.length) * (width - left - right);
  // Equal values stand at the bottom, NaN and infinity at the top.
  function y(v) {
    const share = Number.isNaN(v) || v === Infinity ? 1 : v === 0 ? 0 : (Math.log10(v) - low) / (high - low);
    return height - bottom - Math.min(Math.max(share, 0), 1) * (height - top - bottom);
  }

  function axis(root) {
    const step = Math.max(1, Math.ceil((high - low) / 7));
    for (let e = low; e <= high; e += step) {
      const at = y(10 ** e);
      root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }));
      root.append(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, e === low ? "≤1e" + e : "1e" + e));
    }
    root.append(svg("text", { x: left, y: height - 5 }, "first call"));
    root.append(svg("text", { x: width - right, y: height - 5, "text-anchor": "end" }, "call " + shown.length));
  }
  function tolerance(root) {
    let d = "";
    shown.forEach((l, i) => {
      const t = l.worstOutput || l.worstGradient;
      const half = (width - left - right) / shown.length / 2, at = y(t.tolerance.atol).toFixed(1);
      d += (d ? "L" : "M") + (x(i) - half).toFixed(1) + " " + at + "L" + (x(i) + half).toFixed(1) + " " + at;
    });
    root.append(svg("path", { class: "tolerance", d }));
  }
  function drawSeries(root, s) {
    let line = "", dots = "", crosses = "";
    const r = shown.length > 600 ? 1.6 : shown.length > 150 ? 2.3 : 3.2;
    shown.forEach((l, i) => {
      const t = s.of(l), v = value(t);
      if (v === undefined) return;
      const px = x(i).toFixed(1), py = y(v).toFixed(1);
      line += (line ? "L" : "M") + px + " " + py;
      if (t.pass) dots += `M${px} ${py}m-${r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 -${2 * r} 0`;
      else crosses += `M${px} ${py}m-${r} -${r}l${2 * r} ${2 * r}m0 -${2 * r}l-${2 * r} ${2 * r}`;
    });
    root.append(svg("path", { class: "line " + s.name, d: line }));
    root.append(svg("path", { class: "points " + s.name, d: dots }));
    root.append(svg("path", { class: "crosses " + s.name, d: crosses }));
  }
  function mark(root, s, row) {
    if (!s.first || !place.has(s.first)) return;
    const at = x(place.get(s.first)), end = at > width * 0.6;
    root.append(svg("line", { class: "first", x1: at, x2: at, y1: top - 4, y2: height - bottom }));
    root.append(svg("text", { class: "first-label", x: at + (end ? -5 : 5), y: 10 + 12 * row, "text-anchor": end ? "end" : "start" },
                    "first " + s.name + ": " + cut(layerName(s.first), 40)));
  }
  const cut = (text, length) => (text.length > length ? "…" + text.slice(1 - length) : text);

  function draw() {
    const box = $("plot");
    width = Math.max(box.clientWidth, 200);
    const root = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
                              "aria-label": "Largest absolute error of each layer, forward and backward; arrow keys choose a layer" });
    axis(root);
    tolerance(root);
    series.forEach((s) => drawSeries(root, s));
    series.forEach((s, i) => mark(root, s, s.first === firstForward && i === 1 ? 1 : i));
    cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom, x1: -9, x2: -9 });
    root.append(cursor);
    const at = (event) => {
      const rect = root.getBoundingClientRect();
      const i = Math.floor((((event.clientX - rect.left) / rect.width) * width - left) / ((width - left - right) / shown.length));
      return shown[Math.min(Math.max(i, 0), shown.length - 1)];
    };
    root.addEventListener("pointermove", (event) => hover(at(event)));
    root.addEventListener("pointerleave", () => hover(selection.layer));
    root.addEventListener("click", (event) => select(at(event), "plot"));
    root.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 }[event.key];
      if (!step) return;
      event.preventDefault();
      const i = (place.has(selection.layer) ? place.get(selection.layer) : -1) + step;
      select(shown[Math.min(Math.max(i, 0), shown.length - 1)], "plot");
    });
    box.replaceChildren(root, el("div", { class: "legend" }, el("span", {}, "● forward: outputs"), el("span", {}, "○ backward: gradients"),
                                 el("span", {}, "✕ out of tolerance"), el("span", {}, "┄ absolute tolerance")));
    hover(selection.layer);
  }
  function hover(layer) {
    if (!layer || !place.has(layer)) return;
    set(cursor, { x1: x(place.get(layer)), x2: x(place.get(layer)) });
    const parts = series.map((s) => (value(s.of(layer)) === undefined ? null : s.name + " " + short(value(s.of(layer))))).filter(Boolean);
    $("hover").textContent = layerName(layer) + " (" + layerType(layer) + "): " + parts.join(", ");
  }
  function start() {
    if (!shown.length) return void ($("plots").hidden = true);
    draw();
    let wait = 0;
    addEventListener("resize", () => {
      cancelAnimationFrame(wait);
      wait = requestAnimationFrame(draw);
    });
    selection.listeners.push(hover);
  }
  return { start };
})();

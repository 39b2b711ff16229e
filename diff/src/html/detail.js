// The selected layer: what it is, why it differs, and each of its tensors with histogram and heat map.
const detail = (() => {
  // From dark blue to yellow: even in lightness, so that it reads without colour too.
  const stops = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
  function colour(share) {
    const at = share * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
    return stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i)));
  }
  const css = (share) => `rgb(${colour(share).join(",")})`;

  function configs(layer) {
    const [a, b] = [layer.ref, layer.test];
    if (!a || !b || a.config === b.config) return call(layer).config ? el("p", { class: "mono" }, call(layer).config) : null;
    const words = (c) => c.config.match(/[^,\[(]*(\[[^\]]*\]|\([^)]*\))?[^,]*/g).map((w) => w.trim()).filter(Boolean);
    const line = (mine, other) => words(mine).flatMap((w, i) => [i ? ", " : "", words(other).includes(w) ? w : el("mark", {}, w)]);
    return el("div", { class: "config mono" }, el("small", {}, "reference"), el("span", {}, line(a, b)), el("small", {}, "test"), el("span", {}, line(b, a)));
  }
  function modes(layer) {
    if (!layer.ref || !layer.test || layer.ref.training === layer.test.training) return null;
    const mode = (c) => (c.training ? "training" : "eval");
    return el("p", {}, `The reference was in ${mode(layer.ref)} mode, the test in ${mode(layer.test)} mode.`);
  }
  function split(layer) {
    if (!layer.split) return null;
    const values = ["inherited", "added", "noise"].map((k) => [k, number(layer.split[k])]);
    const logs = values.map(([, v]) => (v > 0 ? Math.log10(v) : -17));
    const low = Math.min(-9, ...logs.filter((v) => v > -17)) - 0.5, high = Math.max(-2, ...logs.filter(Number.isFinite));
    const text = { inherited: "inherited with the inputs", added: "added by this layer", noise: "rounding explains" };
    return el("div", {}, el("h3", {}, "Where its error comes from"), el("div", { class: "bars" }, values.flatMap(([k, v], i) => [
      el("span", {}, text[k]), el("span", {}, el("i", { class: k, style: `width:${v > 0 ? Math.min(Math.max((logs[i] - low) / (high - low), 0), 1) * 100 : 0}%` })), el("span", { class: "mono" }, short(v))])));
  }
  function histogram(t) {
    const h = t.histogram, all = [h.below, ...h.counts, h.above], most = Math.max(1, ...all);
    const w = 360, base = 92, bar = w / all.length, bins = h.counts.length, span = (h.high - h.low) / bins;
    const root = svg("svg", { class: "histogram", viewBox: `0 0 ${w} 110`, preserveAspectRatio: "none", role: "img", "aria-label": "Histogram of the error" });
    const tolerance = Math.log10(t.tolerance.atol);
    all.forEach((n, i) => {
      const size = n ? Math.max(1.5, (Math.log1p(n) / Math.log1p(most)) * 84) : 0;
      const out = i > 0 && h.low + (i - 1) * span >= tolerance;
      const range = i === 0 ? `below 1e${h.low}` : i > bins ? `above 1e${h.high}` : `1e${+(h.low + (i - 1) * span).toFixed(2)} to 1e${+(h.low + i * span).toFixed(2)}`;
      root.append(svg("rect", { class: out ? "out" : null, x: i * bar + 0.3, width: Math.max(bar - 0.6, 0.5), y: base - size, height: size }, svg("title", {}, `${n} elements ${range}`)));
    });
    const px = (e) => bar + ((e - h.low) / span) * bar;
    if (tolerance > h.low && tolerance < h.high) root.append(svg("line", { x1: px(tolerance), x2: px(tolerance), y1: 4, y2: base }));
    for (let e = Math.ceil(h.low / 4) * 4; e <= h.high; e += 4) root.append(svg("text", { x: px(e), y: 106, "text-anchor": e === h.low ? "start" : e === h.high ? "end" : "middle" }, "1e" + e));
    return el("figure", {}, el("figcaption", {}, "|test − ref|: number of elements (log), dashed: absolute tolerance"), root);
  }
  const code = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  function heatMap(t) {
    const map = t.heat_map;
    if (map.left_out) return el("figure", {}, el("figcaption", {}, "Its heat map was left out to keep the page small; --json has it."));
    const canvas = el("canvas", { width: map.columns, height: map.rows, role: "img", "aria-label": "Heat map of the error in the worst slice" });
    const context = canvas.getContext("2d"), image = context.createImageData(map.columns, map.rows);
    for (let i = 0; i < map.rows * map.columns; ++i) {
      const c = map.cells[i];
      const rgb = c === "." ? [12, 14, 20] : c === "!" ? [214, 40, 120] : colour(code.indexOf(c) / 63);
      image.data.set([...rgb, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    canvas.style.aspectRatio = Math.min(Math.max(map.columns / map.rows, 0.8), 6);
    const where = map.slice.length ? `slice [${map.slice.join(", ")}, :, :]` : "whole tensor";
    const gradient = `linear-gradient(90deg, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map(css).join(", ")})`;
    return el("figure", {}, el("figcaption", {}, `|test − ref| in the worst ${where}, ${map.rows} × ${map.columns} cells`), canvas,
              el("div", { class: "scale" }, short(map.low), el("i", { style: "background:" + gradient }), short(map.high), map.cells.includes("!") ? " pink: NaN or infinite" : ""));
  }
  function figures(t) {
    const out = [];
    if (t.problem) out.push(el("p", { class: "cause" }, t.problem));
    if (t.note) out.push(el("p", {}, t.note));
    if (t.compared) {
      const m = t.metrics;
      const rows = [["max abs", short(m.max_abs)], ["max rel", short(m.max_rel)], ["mean abs", short(m.mean_abs)], ["rms of ref", short(m.ref_rms)],
                    ["cosine", (+number(m.cosine)).toPrecision(7)], ["SNR", m.snr_db === "inf" ? "equal" : short(m.snr_db) + " dB"], ["ULP", short(m.max_ulp)],
                    ["out", `${m.count_out} of ${m.numel}`]];
      if (m.nan_ref || m.nan_test) rows.push(["NaN", `${m.nan_ref} → ${m.nan_test}`]);
      if (m.inf_ref || m.inf_test) rows.push(["infinite", `${m.inf_ref} → ${m.inf_test}`]);
      out.push(el("dl", {}, rows.flatMap(([k, v]) => [el("dt", {}, k), el("dd", { class: "mono" }, v)])));
      out.push(el("p", {}, "tolerance ", el("span", { class: "mono" }, `${t.tolerance.atol} + ${t.tolerance.rtol} × |ref|`),
                  m.worst.length || m.max_abs !== 0 ? [", worst at ", el("span", { class: "mono" }, `[${m.worst.join(", ")}]`), ": reference ", el("span", { class: "mono" }, precise(m.worst_ref)), ", test ", el("span", { class: "mono" }, precise(m.worst_test))] : ""));
    }
    if (t.histogram) out.push(histogram(t));
    if (t.heat_map) out.push(heatMap(t));
    return out;
  }
  const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1).replace(/\.?$/, ".") : "");
  const precise = (v) => (typeof v === "number" ? String(+v.toPrecision(7)) : v);

  function tensors(layer) {
    const groups = [["Forward", layer.forward], ["Backward", layer.backward], ["Parameters and buffers", layer.state]].filter(([, list]) => list.length);
    const pane = el("div", {});
    const buttons = [];
    const show = (t, button) => {
      for (const b of buttons) b.setAttribute("aria-pressed", String(b === button));
      pane.replaceChildren(el("h3", {}, tensorName(t), " ", el("small", {}, shape(t.ref || t.test))), ...figures(t));
    };
    const best = layer.shown || layer.worstOutput || worst(layer.state);
    let chosen = null;
    const parts = groups.map(([title, list]) => el("div", {}, el("h3", {}, title), el("div", { class: "tensors" }, list.map((t) => {
      const status = t.pass ? "pass" : t.compared || t.problem ? "fail" : "none";
      const b = el("button", { "aria-pressed": "false", click: () => (show(t, b), pane.scrollIntoView({ block: "nearest" })) }, el("span", { class: "status " + status, title: statusText[status] }),
                   el("span", {}, tensorName(t), " ", el("small", {}, shape(t.ref || t.test), t.ref && t.test && shape(t.ref) !== shape(t.test) ? " / " + shape(t.test) : "")),
                   el("span", { class: "mono" }, t.compared ? short(t.metrics.max_abs) : ""));
      buttons.push(b);
      if (t === best || (!best && !chosen)) chosen = [t, b];
      return b;
    }))));
    if (chosen) show(...chosen);
    const states = layer.state.length ? parts.pop() : null;
    return [...parts, pane, states].filter(Boolean);
  }
  function render(layer) {
    const c = call(layer);
    const alone = { only_ref: "The reference calls it, the test does not.", only_test: "The test calls it, the reference does not." }[layer.match];
    const renamed = layer.ref && layer.test && layer.ref.path !== layer.test.path;
    const fused = layer.fused.map((f) => (f.path === null || f.path === undefined ? f.type + "()" : f.path || f.root)).join(", ");
    $("detail").replaceChildren(
        el("h2", {}, el("span", { class: "status " + layer.status, title: statusText[layer.status] }), " ", layerName(layer), " ", el("small", {}, layerType(layer))),
        el("p", {}, el("small", {}, `${c.root || "outside of modules"}, step ${layer.step}` + (layer === firstForward ? ", first divergence of the forward pass" : "") + (layer === firstBackward ? ", first divergence of the backward pass" : ""))),
        ...[alone && el("p", { class: "cause" }, alone), renamed && el("p", {}, `Matched by ${layer.match}: ${layerName({ ref: layer.ref })} with ${layerName({ ref: layer.test })}`),
            fused && el("p", {}, `Together with ${fused} it does what the other side does in one call.`), configs(layer), modes(layer),
            ...layer.hints.map((h) => el("div", { class: "cause" }, el("b", {}, "Cause found: "), h.text, el("small", {}, ` (leaves ${short(h.max_abs)})`))),
            (layer.verdict_reason || layer.verdict !== "none") && el("p", {}, el("b", {}, `Verdict: ${layer.verdict}.`), " " + sentence(layer.verdict_reason)),
            split(layer), ...tensors(layer)].filter(Boolean));
    $("detail").scrollTop = 0;
  }
  return { start: () => selection.listeners.push(render) };
})();

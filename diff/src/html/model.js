// The report, and what the parts of the page ask of it.
"use strict";
const report = JSON.parse(document.getElementById("data").textContent);

const number = (v) => (v === "inf" ? Infinity : v === "-inf" ? -Infinity : v === "nan" ? NaN : v);
const isOutput = (t) => t.kind === "output";
const isGradient = (t) => t.kind === "grad_input" || t.kind === "grad_output";

/** "1.2e-06", "0.031", "0" */
function short(value) {
  if (value === undefined || value === null) return "";
  const v = number(value);
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "NaN" : v > 0 ? "∞" : "−∞";
  if (v === 0) return "0";
  const a = Math.abs(v);
  return a >= 1e-3 && a < 1e5 ? String(+v.toPrecision(3)) : v.toExponential(1);
}
const percent = (share) => (share === undefined ? "" : share === 0 ? "0" : share < 1e-3 ? "<0.1 %" : +(100 * share).toPrecision(3) + " %");
const shape = (r) => (r ? r.dtype + " [" + r.shape.join(", ") + "]" : "");
const stateKinds = { parameter_grad: "gradient of ", updated_parameter: "updated ", updated_buffer: "updated " };
const tensorName = (t) =>
  t.name ? (stateKinds[t.kind] || "") + t.name : t.kind.replace("grad_", "gradient of ") + (t.index ? " " + t.index : "");

const sides = (layer) => [layer.ref, layer.test].filter(Boolean);
const call = (layer) => layer.ref || layer.test;
const layers = report.layers;
const byCall = { ref: new Map(), test: new Map() };
for (const l of layers)
  for (const side of ["ref", "test"]) if (l[side]) byCall[side].set(l[side].call, l[side]);
/** The path of the module that calls a function. */
function callerPath(layer) {
  const c = call(layer), parent = byCall[layer.ref ? "ref" : "test"].get(c.parent);
  return (parent && parent.path) || "";
}
function layerName(layer) {
  const c = call(layer);
  return c.path === null ? [callerPath(layer), c.type + "()"].filter(Boolean).join(" ") : c.path || c.root;
}
function layerType(layer) {
  const types = [...new Set(sides(layer).map((c) => c.type))];
  return types.join(" / ");
}
const isAlone = (layer) => layer.match === "only_ref" || layer.match === "only_test";

/** The tensor that shows most: what cannot be compared, else the largest share of elements out of tolerance. */
function worst(tensors) {
  let best = null;
  const rank = (t) => (t.problem && !t.pass ? 2 : t.compared ? t.metrics.share_out : -1);
  const size = (t) => (t.compared ? number(t.metrics.max_abs) : 0);
  for (const t of tensors)
    if (!best || rank(t) > rank(best) || (rank(t) === rank(best) && size(t) > size(best))) best = t;
  return best;
}

const byId = new Map(layers.map((l) => [l.id, l]));
for (const layer of layers) {
  layer.worstOutput = worst(layer.forward.filter(isOutput));
  layer.worstGradient = worst(layer.backward.filter(isGradient));
  const failed = !layer.outputs_pass || !layer.gradients_pass || layer.state.some((t) => !t.pass && t.compared);
  layer.status = isAlone(layer) ? "gone" : failed ? "fail" : layer.worstOutput || layer.worstGradient ? "pass" : "none";
  // What the table shows: the outputs, or the gradients where these alone differ.
  layer.shown = layer.outputs_pass && !layer.gradients_pass ? layer.worstGradient : layer.worstOutput || layer.worstGradient;
}
const statusText = { pass: "agrees", fail: "differs", gone: "on one side alone", none: "nothing to compare" };
const firstForward = byId.get(report.first_forward);
const firstBackward = byId.get(report.first_backward);
const firstState = report.first_state === null ? null : report.state[report.first_state];

/** An element with attributes and children; text is never read as HTML. */
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  set(e, attributes);
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}
function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(e, attributes);
  e.append(...children);
  return e;
}
function set(e, attributes) {
  for (const [key, value] of Object.entries(attributes || {}))
    if (typeof value === "function") e.addEventListener(key, value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
}
const $ = (id) => document.getElementById(id);

// One layer is selected; whoever shows it listens.
const selection = { layer: null, listeners: [] };
function select(layer, from) {
  if (!layer || selection.layer === layer) return;
  selection.layer = layer;
  for (const listener of selection.listeners) listener(layer, from);
}

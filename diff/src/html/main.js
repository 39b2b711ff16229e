// What happened in one sentence, and the start of the page.
function describe(layer, direction) {
  const cause = layer.hints.length ? `Cause found: ${layer.hints[0].text}` : layer.verdict_reason;
  return `${layerName(layer)} (${layerType(layer)}), ${direction}.` + (cause ? " " + cause.replace(/\.?$/, ".") : "");
}
function describeState() {
  const name = [firstState.path, firstState.name].filter(Boolean).join(".");
  const cause = firstState.hints.length ? " Cause found: " + firstState.hints[0].text : "";
  return `First divergence: ${name}, ${firstState.kind.replace("_", " ")} of step ${firstState.step}.${cause}`;
}
function sentences() {
  const first = firstForward || firstBackward;
  if (first && firstState && firstState.step < first.step) return [describeState(), `Layers differ from step ${first.step} on, first ${describe(first, firstForward ? "forward" : "backward")}`];
  if (firstForward) {
    const second = firstBackward && firstBackward !== firstForward ? "First in the backward pass: " + describe(firstBackward, "gradients") : "";
    return ["First divergence: " + describe(firstForward, "forward"), second];
  }
  if (firstBackward) return ["First divergence: " + describe(firstBackward, "backward"), "All outputs of the forward pass agree."];
  if (firstState) return [describeState(), "All layers agree."];
  if (report.failed) return [`${report.failed} tensors could not be matched or differ.`, ""];
  if (!report.compared) return ["Nothing was compared.", ""];
  return [`All ${report.compared} pairs of tensors agree.`, ""];
}
function header() {
  const [first, second] = sentences();
  $("head").className = report.agree ? "" : report.compared || report.failed ? "differs" : "nothing";
  $("sentence").textContent = first;
  document.title = first;
  if (second) {
    $("second").hidden = false;
    $("second").textContent = second;
    if (firstForward && firstBackward && firstBackward !== firstForward) $("second").append(" ", el("a", { href: "#", click: (e) => (e.preventDefault(), select(firstBackward, "head")) }, "Show it"));
  }
  const side = (t) => `${t.path} (${t.producer || "safetensors"})`;
  $("sides").textContent = `Reference: ${side(report.ref)} · test: ${side(report.test)}`;
  const counts = [[report.compared, "pairs of tensors compared"], [report.failed, "out of tolerance or unmatched"], [report.only_ref, "calls in the reference alone"],
                  [report.only_test, "calls in the test alone"], [report.statistics, "with statistics alone"]];
  $("counts").append(...counts.filter(([n], i) => n || i < 2).map(([n, text]) => el("li", {}, el("b", {}, String(n)), " " + text)));
  $("notes").hidden = !report.notes.length;
  $("notes").append(...report.notes.map((n) => el("li", {}, n)));
}
header();
plot.start();  // measures the page while it is empty
tree.start();
table.start();
table.states();
detail.start();
select(firstForward || firstBackward || layers.find((l) => l.status === "fail") || layers[0], "start");
document.documentElement.dataset.ready = "1";

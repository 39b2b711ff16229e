// The page holds no script: its histograms are drawn here.
#include <fmt/format.h>

#include "plot.h"
#include "report.h"

namespace hb::cli::amp_report {

extern const char kPageCss[];

namespace {

using layer_diff::markup_escaped;

std::string head(const Report& report) {
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n", markup_escaped(sentence(report)));
  for (const std::string& line : explanation(report)) out += fmt::format("<p>{}</p>\n", markup_escaped(line));
  out += fmt::format("<p>{} gradients of {} steps in {} layers; those that are zero are left out.</p>\n",
                     count_text(report.all.finite()), report.steps, report.layers.size());
  if (!report.notes.empty()) {
    out += "<ul>\n";
    for (const std::string& note : report.notes) out += fmt::format("<li>{}</li>\n", markup_escaped(note));
    out += "</ul>\n";
  }
  return out +
         R"html(<div class="legend"><span><i style="background:var(--parameters)"></i>gradients of parameters</span>
<span><i style="background:var(--outputs)"></i>gradients of layers' outputs</span>
<span><i style="background:var(--fail-bg)"></i>beyond fp16: below 2^-24, or infinite</span>
<span><i style="background:var(--coarse-bg)"></i>subnormal in fp16: fewer digits (2^-24 to 2^-14)</span></div>
</header>
)html";
}

std::string table_row(const Report& report, size_t number) {
  const Layer& layer = report.layers[number];
  const GradientCounts counts = layer.all();
  const uint64_t n = counts.finite();
  const Fit plain = fit(counts, 0);
  std::string out = fmt::format(
      R"(<tr><td class="name"><a href="#layer{}">{}</a></td><td class="name">{}</td><td>{}</td><td>{}</td><td>{}</td>)"
      R"(<td>{}</td><td>{}</td>)",
      number, markup_escaped(layer.name), markup_escaped(layer.type), count_text(n),
      n ? fmt::format("{:.3g}", counts.largest) : "", layer.own ? fmt::format("2^{}", layer.own->power) : "",
      share(plain.below_smallest, n), share(plain.below_normal, n));
  if (report.advice) {
    const Fit scaled = fit(counts, report.advice->power);
    out += fmt::format("<td{}>{}</td><td>{}</td>", scaled.below_smallest ? R"( class="bad")" : "",
                       share(scaled.below_smallest, n), share(scaled.below_normal, n));
  }
  return out + "</tr>\n";
}

std::string table(const Report& report) {
  std::string out =
      R"(<section class="wide"><table><thead><tr><th class="name">layer</th><th class="name">type</th><th>gradients</th>)"
      R"(<th>largest</th><th>own scale</th><th>below 2^-24</th><th>below 2^-14</th>)";
  if (report.advice) out += fmt::format("<th>at 2^{0}: below 2^-24</th><th>below 2^-14</th>", report.advice->power);
  out += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < report.layers.size(); ++i) out += table_row(report, i);
  return out + "</tbody></table></section>\n";
}

std::string section(const Report& report, const Layer& layer, size_t number, const Axis& axis) {
  const GradientCounts counts = layer.all();
  const uint64_t n = counts.finite();
  std::string out = fmt::format("<section id=\"layer{}\"><h2>{} <small>{}</small></h2>\n", number,
                                markup_escaped(layer.name), markup_escaped(layer.type));
  if (n == 0) return out + "<p>no gradients but zeros</p></section>\n";
  out += fmt::format("<p><b>{}</b> of {} below 2^-24", share(fit(counts, 0).below_smallest, n), count_text(n));
  if (report.advice)
    out += fmt::format(", scaled <b>{}</b>", share(fit(counts, report.advice->power).below_smallest, n));
  out += fmt::format("; largest {:.3g}</p>\n", counts.largest);
  return out + plot(layer.parameters, layer.outputs, report.advice, axis) + "</section>\n";
}

}  // namespace

std::string html(const Report& report) {
  const Axis axis = axis_of(report);
  std::string out = fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>Gradients and the loss scale</title>
<link rel="icon" href="data:,">
<style>
{}</style>
</head>
<body>
)",
      kPageCss);
  out += head(report) + "<main>\n";
  Layer whole{"all layers", "", {}, {}, {}, {}};
  for (const Layer& layer : report.layers) whole.parameters.add(layer.parameters), whole.outputs.add(layer.outputs);
  out += table(report);
  out += section(report, whole, report.layers.size(), axis);
  for (size_t i = 0; i < report.layers.size(); ++i) out += section(report, report.layers[i], i, axis);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace hb::cli::amp_report

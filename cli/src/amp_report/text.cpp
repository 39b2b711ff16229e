#include <fmt/format.h>

#include <halfbridge/diff/text_table.h>
#include <halfbridge/io/keys.h>

#include "report.h"

namespace hb::cli::amp_report {

namespace {

using layer_diff::Column;
using layer_diff::Ink;
using layer_diff::Row;

std::string tensor_name(const std::string& layer, const GradientRow& row) {
  return layer + (row.kind == "output" ? " output " : ".") + row.name;
}

Row row_of(const std::string& name, const std::string& type, const GradientCounts& counts, const std::string& own,
           const std::optional<Fit>& advice) {
  const uint64_t n = counts.finite();
  const Fit plain = fit(counts, 0);
  Row row;
  row.cells = {io::printable(name),
               io::printable(type),
               count_text(n),
               share(counts.zeros, n + counts.zeros),
               n ? fmt::format("{:.3g}", counts.largest) : "-",
               own,
               share(plain.below_smallest, n),
               share(plain.below_normal, n)};
  if (!advice) return row;
  const Fit scaled = fit(counts, advice->power);
  row.cells.push_back(share(scaled.below_smallest, n));
  row.cells.push_back(share(scaled.below_normal, n));
  if (scaled.below_smallest > 0) row.ink = Ink::fail;
  return row;
}

std::string own_scale(const std::optional<Fit>& own) { return own ? fmt::format("2^{}", own->power) : "-"; }

}  // namespace

std::string text(const Report& report, const layer_diff::TextOptions& options) {
  std::vector<Column> columns = {{options.all ? "tensor" : "layer", false, 0, 16},
                                 {"type", false, 1},
                                 {"gradients", true, 3},
                                 {"zero", true, 2},
                                 {"largest", true, 4},
                                 {"own scale", true, 4},
                                 {"<2^-24", true, 0, 0, "unscaled"},
                                 {"<2^-14", true, 4, 0, "unscaled"}};
  if (report.advice) {
    const std::string group = fmt::format("at 2^{}", report.advice->power);
    columns.push_back({"<2^-24", true, 0, 0, group});
    columns.push_back({"<2^-14", true, 4, 0, group});
  }
  std::vector<Row> rows;
  for (const Layer& layer : report.layers) {
    if (!options.all) {
      rows.push_back(row_of(layer.name, layer.type, layer.all(), own_scale(layer.own), report.advice));
      continue;
    }
    for (const GradientRow& tensor : layer.tensors)
      rows.push_back(row_of(tensor_name(layer.name, tensor), layer.type, tensor.counts,
                            own_scale(advise(tensor.counts, report.headroom)), report.advice));
  }
  std::string out = fmt::format("{} gradients of {} steps in {} layers\n\n", count_text(report.all.finite()),
                                report.steps, report.layers.size());
  if (!rows.empty()) out += layer_diff::table(columns, rows, options) + '\n';
  out += paint(sentence(report), Ink::heading, options) + '\n';
  for (const std::string& line : explanation(report)) out += "  " + wrapped(io::printable(line), 2, options);
  for (const std::string& note : report.notes) out += "note  " + wrapped(io::printable(note), 6, options);
  return out;
}

}  // namespace hb::cli::amp_report

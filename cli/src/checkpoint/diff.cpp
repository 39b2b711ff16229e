// halfbridge checkpoint diff
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common.h"

namespace hb::cli::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kChunk = int64_t{1} << 20;  // elements in double at a time

struct Options {
  std::string first, second;
  Names names;
  double atol = 0, rtol = 0;
  bool json = false, common = false, any_dtype = false;
  size_t most = 20;
};

struct Row {
  std::string name, dtypes;
  int64_t outside = 0, elements = 0;
  double max_abs = 0, max_rel = 0;
  bool differs = false;
};

struct Result {
  io::KeyComparison keys;
  std::vector<Row> rows;  // of tensors that both have in the same shape
  size_t differing = 0;
};

void compare_chunk(const Tensor& first, const Tensor& second, const Options& options, Row& row) {
  const Tensor a = first.to(kDouble), b = second.to(kDouble);
  const double *x = a.data_ptr<double>(), *y = b.data_ptr<double>();
  for (int64_t i = 0; i < a.numel(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double distance = std::isfinite(x[i]) && std::isfinite(y[i]) ? std::abs(x[i] - y[i]) : INFINITY;
    row.max_abs = std::max(row.max_abs, distance);
    row.max_rel = std::max(row.max_rel, distance / std::max(std::abs(x[i]), 1e-30));
    if (!(distance <= options.atol + options.rtol * std::abs(x[i]))) ++row.outside;
  }
}

// Integers beyond 2^53 that a double would take for equal.
int64_t count_unequal(const Tensor& a, const Tensor& b) { return a.ne(b).sum().item<int64_t>(); }

Row compare(const std::string& name, const Tensor& first, const Tensor& second, const Options& options) {
  Row row;
  row.name = name;
  row.elements = first.numel();
  if (first.scalar_type() != second.scalar_type()) {
    row.dtypes = std::string(io::dtype_name(first.scalar_type())) + " / " + io::dtype_name(second.scalar_type());
  }
  const Tensor a = first.detach().contiguous().view({-1}), b = second.detach().contiguous().view({-1});
  for (int64_t start = 0; start < a.numel(); start += kChunk) {
    const int64_t count = std::min(kChunk, a.numel() - start);
    compare_chunk(a.narrow(0, start, count), b.narrow(0, start, count), options, row);
  }
  const bool exact = options.atol == 0 && options.rtol == 0 && a.scalar_type() == kLong && b.scalar_type() == kLong;
  if (exact && a.numel() > 0) row.outside = std::max(row.outside, count_unequal(a, b));
  row.differs = row.outside > 0 || (!row.dtypes.empty() && !options.any_dtype);
  return row;
}

std::vector<io::NamedShape> shapes_of(const io::NamedTensors& tensors) {
  std::vector<io::NamedShape> shapes;
  for (const auto& [name, tensor] : tensors) shapes.push_back(io::named_shape(name, tensor));
  return shapes;
}

Result compare_files(const Options& options) {
  const auto a = io::load_state_dict_file(options.first), b = io::load_state_dict_file(options.second);
  const bool inside = !options.names.only.empty();
  const io::NamedTensors first =
      rename(inside ? io::flatten(select(a, options.names, options.first)) : a.tensors, options.names);
  // A name that the second file lacks means all of it: a state dict beside a checkpoint that contains one.
  const auto part = io::value_at(b.value, options.names.only);
  const io::NamedTensors second = inside && part ? io::flatten(*part) : b.tensors;
  Result result;
  result.keys = io::compare_keys(shapes_of(second), shapes_of(first));  // --rename changes the first
  const std::unordered_map<std::string, Tensor> by_name(second.begin(), second.end());
  for (const auto& [name, tensor] : first) {
    const auto found = by_name.find(name);
    if (found == by_name.end() || found->second.sizes() != tensor.sizes()) continue;
    result.rows.push_back(compare(name, tensor, found->second, options));
    result.differing += result.rows.back().differs;
  }
  return result;
}

bool differs(const Result& result, const Options& options) {
  const bool names = !result.keys.missing.empty() || !result.keys.unexpected.empty();
  return result.differing > 0 || !result.keys.mismatched.empty() || (names && !options.common);
}

Json names_of(const std::vector<io::NamedShape>& items) {
  Json names = Json::array();
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

void print_json(const Result& result, const Options& options) {
  Json json{{"agree", !differs(result, options)},
            {"atol", options.atol},
            {"rtol", options.rtol},
            {"compared", result.rows.size()},
            {"only_in_first", names_of(result.keys.unexpected)},
            {"only_in_second", names_of(result.keys.missing)},
            {"other_shape", Json::array()},
            {"differ", Json::array()}};
  for (const auto& item : result.keys.mismatched) {
    json["other_shape"].push_back({{"name", item.name}, {"first", item.given}, {"second", item.wanted}});
  }
  for (const Row& row : result.rows) {
    if (!row.differs) continue;
    Json entry{{"name", row.name}, {"elements", row.elements}, {"outside", row.outside}};
    entry["max_abs"] = std::isfinite(row.max_abs) ? Json(row.max_abs) : Json("inf");
    entry["max_rel"] = std::isfinite(row.max_rel) ? Json(row.max_rel) : Json("inf");
    if (!row.dtypes.empty()) entry["dtypes"] = row.dtypes;
    json["differ"].push_back(entry);
  }
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_text(const Result& result, const Options& options) {
  const io::DescribeKeys how{
      true, options.most, "in SECOND alone", "in FIRST alone", "nearest in FIRST", "nearest in SECOND"};
  const std::string keys = io::describe(result.keys, how);
  if (!keys.empty()) fmt::print("names and shapes (expected: SECOND, got: FIRST){}\n", keys);
  size_t width = 4, shown = 0;
  for (const Row& row : result.rows)
    if (row.differs) width = std::max(width, std::min<size_t>(printable(row.name).size(), 70));
  if (result.differing)
    fmt::print("  {:<{}}  {:>20}  {:>10}  {:>10}\n", "name", width, "elements outside", "max abs", "max rel");
  for (const Row& row : result.rows) {
    if (!row.differs || ++shown > options.most) continue;
    fmt::print("  {:<{}}  {:>20}  {:>10.3g}  {:>10.3g}  {}\n", printable(row.name), width,
               fmt::format("{} of {}", row.outside, row.elements), row.max_abs, row.max_rel, row.dtypes);
  }
  if (shown > options.most) fmt::print("  and {} more\n", shown - options.most);
  double worst = 0;
  for (const Row& row : result.rows) worst = std::max(worst, row.max_abs);
  fmt::print("{}: {} of {} common tensors agree (atol {:g}, rtol {:g}, largest difference {:.3g})\n",
             differs(result, options) ? "DIFFER" : "agree", result.rows.size() - result.differing,
             result.rows.size() + result.keys.mismatched.size(), options.atol, options.rtol, worst);
}

int run(const Options& options) {
  const Result result = compare_files(options);
  (options.json ? print_json : print_text)(result, options);
  return differs(result, options) ? kDiffers : kAgrees;
}

}  // namespace

void add_diff(CLI::App& app, int& exit) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("diff", "Compare the tensors of two checkpoints by name, element by element");
  command->add_option("FIRST", options->first, "A checkpoint of any format")->required();
  command->add_option("SECOND", options->second, "Another checkpoint, of the same or another format")->required();
  add_name_options(*command, options->names, " of the first");
  command->add_option("--atol", options->atol, "Accept |a - b| <= atol + rtol * |a|; 0: values must be equal")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--rtol", options->rtol, "See --atol")->check(CLI::NonNegativeNumber);
  command->add_flag("--common", options->common, "Ignore names that only one file has");
  command->add_flag("--any-dtype", options->any_dtype, "Ignore differences of dtype");
  command->add_option("--most", options->most, "Print at most N rows of each kind")->type_name("N");
  command->add_flag("--json", options->json, "Print JSON, with every row");
  command->footer(
      "Exit status: 0 they agree, 1 they differ, 2 could not run. NaN agrees with NaN. For a name that only one file "
      "has, the\n"
      "nearest name of the other is printed, and a rule for --rename where one would help.\n\n"
      "  halfbridge checkpoint diff model.pt model.safetensors\n"
      "  halfbridge checkpoint diff reference.pt ours.pt --only model --rename 'module.*=*' --rtol 1e-5");
  command->callback([options, &exit] { exit = run(*options); });
}

}  // namespace hb::cli::checkpoint

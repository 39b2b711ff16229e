// halfbridge checkpoint show
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common.h"

namespace hb::cli::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

struct ShowOptions {
  std::string path, only;
  bool json = false, stats = false;
  size_t most_values = 20;
};

struct Statistics {
  double least = INFINITY, largest = -INFINITY, mean = 0;
  int64_t not_finite = 0;
};

Statistics statistics_of(const Tensor& tensor) {
  Statistics s;
  const Tensor values = tensor.detach().to(kDouble).contiguous();
  const double* data = values.data_ptr<double>();
  int64_t finite = 0;
  for (int64_t i = 0; i < values.numel(); ++i) {
    if (!std::isfinite(data[i])) {
      ++s.not_finite;
      continue;
    }
    s.least = std::min(s.least, data[i]);
    s.largest = std::max(s.largest, data[i]);
    s.mean += data[i];
    ++finite;
  }
  s.mean = finite ? s.mean / static_cast<double>(finite) : NAN;
  return s;
}

// The first name of those that lie in the same memory, by name.
std::map<std::string, std::string> shared_memory(const io::NamedTensors& tensors) {
  std::map<const void*, std::string> first;
  std::map<std::string, std::string> shares;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.numel() == 0) continue;
    const auto [known, added] = first.emplace(tensor.storage().unsafeGetStorageImpl(), name);
    if (!added) shares.emplace(name, known->second);
  }
  return shares;
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void show_json(const io::StateDictFile& file, const IValue& value, const io::NamedTensors& tensors,
               const ShowOptions& options) {
  Json json{{"file", options.path}, {"format", io::format_name(file.format)}, {"tensors", Json::array()}};
  const auto shares = shared_memory(tensors);
  for (const auto& [name, tensor] : tensors) {
    Json row{{"name", name},
             {"dtype", io::dtype_name(tensor.scalar_type())},
             {"shape", std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
             {"strides", std::vector<int64_t>(tensor.strides().begin(), tensor.strides().end())},
             {"bytes", tensor.nbytes()}};
    if (const auto found = shares.find(name); found != shares.end()) row["shares_memory_with"] = found->second;
    if (options.stats) {
      const Statistics s = statistics_of(tensor);
      row["min"] = json_number(s.least), row["max"] = json_number(s.largest), row["mean"] = json_number(s.mean);
      row["not_finite"] = s.not_finite;
    }
    json["tensors"].push_back(row);
  }
  json["values"] = Json::object();
  for (const auto& [name, other] : io::flatten_others(value)) json["values"][name] = value_text(other, 4096);
  json["metadata"] = file.metadata;
  if (!file.attributes.empty()) json["attributes"] = Json::object();
  for (const auto& [name, other] : file.attributes) json["attributes"][name] = value_text(other, 4096);
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void show_tensors(const io::NamedTensors& tensors, bool stats) {
  size_t name_width = 4, shape_width = 5;
  for (const auto& [name, tensor] : tensors) {
    name_width = std::max(name_width, std::min<size_t>(printable(name).size(), 70));
    shape_width = std::max(shape_width, shape_text(tensor).size());
  }
  const auto shares = shared_memory(tensors);
  for (const auto& [name, tensor] : tensors) {
    std::string line =
        fmt::format("  {:<{}}  {:<8}  {:<{}}  {:>9}", printable(name), name_width, io::dtype_name(tensor.scalar_type()),
                    shape_text(tensor), shape_width, size_text(tensor.nbytes()));
    if (stats) {
      const Statistics s = statistics_of(tensor);
      line += fmt::format("  min {:<11.4g} max {:<11.4g} mean {:<11.4g}", s.least, s.largest, s.mean);
      if (s.not_finite) line += fmt::format(" {} NaN or inf", s.not_finite);
    }
    if (!tensor.is_contiguous()) line += "  strides " + hb::detail::str(tensor.strides());
    if (const auto found = shares.find(name); found != shares.end()) line += "  memory of " + printable(found->second);
    fmt::print("{}\n", line);
  }
}

void show_values(const std::vector<std::pair<std::string, IValue>>& values, const char* what, size_t most) {
  if (!values.empty()) fmt::print("{} {}\n", values.size(), what);
  for (size_t i = 0; i < std::min(values.size(), most); ++i) {
    fmt::print("  {} = {}\n", printable(values[i].first), value_text(values[i].second));
  }
  if (values.size() > most) fmt::print("  and {} more\n", values.size() - most);
}

void show_text(const io::StateDictFile& file, const IValue& value, const io::NamedTensors& tensors,
               const ShowOptions& options) {
  int64_t elements = 0;
  for (const auto& item : tensors) elements += item.second.numel();
  fmt::print("{}: {} ({})\n", options.path, io::describe_format(file.format), io::format_name(file.format));
  fmt::print("{} tensors, {} elements, {}\n", tensors.size(), elements, size_text(bytes_of(tensors)));
  show_tensors(tensors, options.stats);
  show_values(io::flatten_others(value), "values that are not tensors", options.most_values);
  show_values(file.attributes, "attributes that are neither parameters nor buffers", options.most_values);
  for (const auto& [key, text] : file.metadata) fmt::print("  header: {} = {}\n", printable(key), printable(text));
}

int run(const ShowOptions& options) {
  const io::StateDictFile file = io::load_state_dict_file(options.path);
  Names names;
  names.only = options.only;
  const IValue value = select(file, names, options.path);
  const io::NamedTensors tensors = options.only.empty() ? file.tensors : io::flatten(value);
  (options.json ? show_json : show_text)(file, value, tensors, options);
  return kAgrees;
}

}  // namespace

void add_show(CLI::App& app, int& exit) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "List what a checkpoint holds: names, dtypes, shapes, values");
  command->add_option("FILE", options->path, "The file, or a folder with a safetensors index")->required();
  command->add_option("--only", options->only, "Show only what has this name, such as 'model'")->type_name("NAME");
  command->add_flag("--stats", options->stats,
                    "Also print minimum, maximum and mean of each tensor, and how many elements are not finite");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "The file's content tells the format: torch.save (zip or before 1.6), torch::save, TorchScript,\n"
      "safetensors, a safetensors index. No code in the file is run.\n\n"
      "  halfbridge checkpoint show model.pt\n"
      "  halfbridge checkpoint show checkpoint.pt --only optimizer --stats");
  command->callback([options, &exit] { exit = run(*options); });
}

}  // namespace hb::cli::checkpoint

// Two traces, compared and explained: layers are run again with the options that the traces print. The input is a line
// of JSON per record as docs/trace-format.md has it, with an empty line between the traces; without a second one the
// first is taken again with other outputs. Tensors are made from the dtypes and shapes, so that the fuzzer has no
// lengths to keep right.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <halfbridge/diff/compare.h>
#include <halfbridge/diff/explain.h>
#include <halfbridge/diff/html.h>
#include <halfbridge/diff/output.h>
#include <halfbridge/diff/procedure.h>
#include <halfbridge/error.h>
#include <nlohmann/json.hpp>

#include "memory_file.h"

namespace hb::layer_diff {
extern const char kHtmlPage[] = "@HB_PAGE_DATA@";
}

namespace {

using Json = nlohmann::json;
using namespace hb::layer_diff;

constexpr uint64_t kMostElements = 4096;

size_t bytes_of(const Json& dtype) {
  for (const auto& [name, size] : {std::pair("F64", 8), {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"BOOL", 1}})
    if (dtype == name) return static_cast<size_t>(size);
  return 0;
}

// The elements of a record; empty where its shape is none or too large.
std::string elements(const Json& record, double factor) {
  if (!record.is_object() || !record.contains("dtype") || !record.contains("shape") || !record["shape"].is_array())
    return {};
  uint64_t count = 1;
  for (const Json& size : record["shape"]) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > kMostElements) return {};
    count = std::min(count * size.get<uint64_t>(), kMostElements + 1);
  }
  const size_t item = bytes_of(record["dtype"]);
  if (count > kMostElements) return {};
  std::string bytes(count * item, '\0');
  for (size_t i = 0; i < count; ++i) {
    const double value = (std::sin(0.7 * static_cast<double>(i)) + 1.5) * factor;
    const auto single = static_cast<float>(value);
    const auto whole = static_cast<int64_t>(i % 4);
    char* to = bytes.data() + i * item;
    if (record["dtype"] == "F64") std::memcpy(to, &value, item);
    if (record["dtype"] == "F32") std::memcpy(to, &single, item);
    if (record["dtype"] == "BF16") std::memcpy(to, reinterpret_cast<const char*>(&single) + 2, item);
    if (record["dtype"] == "F16") std::memcpy(to, "\x00\x3c", item);
    if (record["dtype"] == "I64" || record["dtype"] == "BOOL") std::memcpy(to, &whole, item);
  }
  return bytes;
}

void write_trace(const std::string& text, double factor, MemoryFile& file) {
  std::istringstream lines(text);
  Json header{{"__metadata__", {{"halfbridge.trace", "1"}, {"producer", "fuzz"}, {"end", "complete"}}}};
  std::string data;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = "r" + std::to_string(number++);
    header["__metadata__"][name] = line;
    const Json record = Json::parse(line, nullptr, false);
    const bool changed = record.is_object() && record.value("kind", Json()) == "output";
    if (record.is_object() && (record.contains("stats") || record.contains("same_as"))) continue;
    const std::string bytes = elements(record, changed ? factor : 1);
    if (bytes.empty()) continue;
    header[name] = {{"dtype", record["dtype"]},
                    {"shape", record["shape"]},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  const std::string json = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  const uint64_t length = json.size();
  const std::string all = std::string(reinterpret_cast<const char*>(&length), sizeof length) + json + data;
  file.write(all.data(), all.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile files[2];
  static const std::string folder =
      (std::filesystem::temp_directory_path() / ("fuzz_compare_" + std::to_string(::getpid()))).string();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t gap = text.find("\n\n");
  write_trace(text.substr(0, gap), 1, files[0]);
  write_trace(gap == std::string::npos ? text : text.substr(gap + 2), 1.01, files[1]);
  try {
    Report report = compare(Trace::open(files[0].path()), Trace::open(files[1].path()));
    explain(report, {true, 2, 0.1, 0.3});
    text_report(report);
    json_report(report);
    junit_report(report);
    html_page(report);
    five_steps(report);
    if (const auto layer = layer_for_bundle(report)) write_bundle(report, *layer, folder);
  } catch (const hb::Error&) {
  }
  return 0;
}

#pragma once
// A record of a trace file, see docs/trace-format.md. C++17 and the standard library alone: programs on LibTorch use
// these headers too.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace hb::trace {

enum class Kind {
  input,
  output,
  grad_output,
  grad_input,
  mask,
  parameter,
  buffer,
  parameter_grad,
  updated_parameter,
  updated_buffer,
  optimizer_state,
  loss_scale
};
inline constexpr int kKinds = 12;
/// Names as in trace files, in the order of the enumeration.
inline constexpr const char* kKindNames[kKinds] = {
    "input",           "output",    "grad_output",    "grad_input",        "mask",
    "parameter",       "buffer",    "parameter_grad", "updated_parameter", "updated_buffer",
    "optimizer_state", "loss_scale"};
inline const char* name_of(Kind kind) { return kKindNames[static_cast<int>(kind)]; }

/// Element types by their safetensors names.
enum class Dtype { F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL };
inline constexpr const char* kDtypeNames[] = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"};
inline const char* name_of(Dtype dtype) { return kDtypeNames[static_cast<int>(dtype)]; }
inline int64_t size_of(Dtype dtype) {
  constexpr int kSizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  return kSizes[static_cast<int>(dtype)];
}

/// What is known of a tensor; the fields of docs/trace-format.md. `order` is given by the writer.
struct Record {
  Kind kind = Kind::output;
  int64_t step = 0, index = 0;
  std::optional<int64_t> call, parent;
  std::optional<std::string> path;  // absent for functions
  std::string root, type, config;   // left out where empty
  std::optional<bool> training;
  std::string name;  // of parameters, buffers, states and scales
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;

  int64_t bytes() const {
    int64_t n = size_of(dtype);
    for (int64_t d : shape) n *= d;
    return n;
  }
};

/// Of the finite elements, in double; `std` is that of the population. All are NaN where none is finite.
struct Statistics {
  double min = 0, max = 0, mean = 0, std = 0, l2 = 0;
  int64_t nan = 0, inf = 0, zeros = 0;
};

namespace detail {

// The length of the UTF-8 sequence that begins here, 0 where none does.
inline size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(at), second = byte(at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0)) return 0;  // overlong, surrogates
    return follows(at + 1) && follows(at + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) return 0;
    return follows(at + 1) && follows(at + 2) && follows(at + 3) ? 4 : 0;
  }
  return 0;
}

/// Appends a JSON string; what is not UTF-8 becomes U+FFFD.
inline void append_quoted(std::string& json, const std::string& text) {
  json += '"';
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t n = utf8_length(text, i);
    if (c == '"' || c == '\\') {
      json += '\\', json += text[i];
    } else if (c < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      json += escape;
    } else if (n == 0) {
      json += "\\ufffd";
    } else {
      json.append(text, i, n);
    }
    i += n ? n : 1;
  }
  json += '"';
}

/// One JSON object, field by field.
class JsonObject {
 public:
  JsonObject& text(const char* key, const std::string& value) {
    begin(key);
    append_quoted(json_, value);
    return *this;
  }
  JsonObject& raw(const char* key, const std::string& json) {
    begin(key);
    json_ += json;
    return *this;
  }
  JsonObject& number(const char* key, int64_t value) { return raw(key, std::to_string(value)); }
  JsonObject& number(const char* key, double value) {
    // JSON has no NaN. Enough digits to read the same number back.
    if (value != value) return raw(key, "null");
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    for (char* c = digits; *c; ++c)
      if (*c == ',') *c = '.';  // the program's locale
    return raw(key, digits);
  }
  JsonObject& list(const char* key, const std::vector<int64_t>& values) {
    std::string json = "[";
    for (size_t i = 0; i < values.size(); ++i) json += (i ? "," : "") + std::to_string(values[i]);
    return raw(key, json + "]");
  }
  std::string done() { return std::move(json_ += '}'); }

 private:
  void begin(const char* key) {
    json_ += json_.size() > 1 ? "," : "";
    append_quoted(json_, key);
    json_ += ':';
  }
  std::string json_ = "{";
};

/// `same_as`: name of an earlier tensor of equal bytes, or empty.
inline std::string to_json(const Record& r, int64_t order, const Statistics* stats, const std::string& same_as) {
  JsonObject json;
  json.number("order", order).number("step", r.step).text("kind", name_of(r.kind)).number("index", r.index);
  if (r.call) json.number("call", *r.call);
  if (r.parent) json.number("parent", *r.parent);
  if (r.path) json.text("path", *r.path);
  if (!r.root.empty()) json.text("root", r.root);
  if (!r.type.empty()) json.text("type", r.type);
  if (!r.config.empty()) json.text("config", r.config);
  if (r.training) json.raw("training", *r.training ? "true" : "false");
  if (!r.name.empty()) json.text("name", r.name);
  json.text("dtype", name_of(r.dtype)).list("shape", r.shape);
  if (!same_as.empty()) json.text("same_as", same_as);
  if (stats) {
    JsonObject values;
    values.number("min", stats->min).number("max", stats->max).number("mean", stats->mean).number("std", stats->std);
    values.number("l2", stats->l2).number("nan", stats->nan).number("inf", stats->inf).number("zeros", stats->zeros);
    json.raw("stats", values.done());
  }
  return json.done();
}

/// The tensor's name: unique by its number, the rest is for people.
inline std::string tensor_name(const Record& r, int64_t order) {
  char number[24];
  std::snprintf(number, sizeof number, "%06lld", static_cast<long long>(order));
  std::string name = number;
  const std::string& of = r.path ? (r.path->empty() ? r.root : *r.path) : r.type;
  if (!of.empty()) name += '/' + of;
  name += '/' + std::string(name_of(r.kind));
  return name + '/' + (r.name.empty() ? std::to_string(r.index) : r.name);
}

}  // namespace detail
}  // namespace hb::trace

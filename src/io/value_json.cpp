// {"dict": [[key, value], ...]}, {"list": [...]}, {"tuple": [...]}, {"tensor": name}, {"float": "nan"}, {"device":
// "cpu"},
// {"bytes": hexadecimal}; numbers, bools, texts and null stand for themselves.
#include "io/value_json.h"

#include <cmath>
#include <limits>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "io/checked_json.h"
#include "io/io_error.h"

namespace hb::io {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 200;

class Writer {
 public:
  Json write(const IValue& value, const std::string& name) {
    if (++depth_ > kMaxDepth || ++count_ > (size_t{1} << 22)) {
      io_fail("save_safetensors", "expected at most ", kMaxDepth, " levels and 4194304 values, got more");
    }
    Json result = write_new(value, name);
    --depth_;
    return result;
  }

 private:
  Json write_new(const IValue& value, const std::string& name) {
    if (value.isNone()) return nullptr;
    if (value.isTensor()) return {{"tensor", depth_ == 1 ? "0" : name}};
    if (value.isBool()) return value.toBool();
    if (value.isInt()) return value.toInt();
    if (value.isDouble()) return real(value.toDouble());
    if (value.isComplexDouble()) {
      const Complex<double> number = value.toComplexDouble();
      return {{"complex", Json::array({real(number.real()), real(number.imag())})}};
    }
    if (value.isString()) return text(value.toStringRef());
    if (value.isDevice()) return {{"device", value.toDevice().str()}};
    if (value.isList()) return {{"list", items(value.toListRef(), name)}};
    if (value.isTuple()) return {{"tuple", items(value.toTupleRef().elements(), name)}};
    if (value.isGenericDict()) return {{"dict", entries(value, name)}};
    io_fail("save_safetensors", "'", name, "': expected a plain value, got ", value.tagKind());
  }

  static Json real(double value) {
    if (std::isfinite(value)) return value;
    return {{"float", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
  }

  // Strings of Python are UTF-8 here, its bytes anything.
  static Json text(const std::string& value) {
    try {
      Json result = value;
      (void)result.dump();
      return result;
    } catch (const Json::exception&) {
      std::string digits;
      for (unsigned char byte : value) digits += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
      return {{"bytes", digits}};
    }
  }

  // As flatten() does it.
  std::string joined(const std::string& name, const std::string& key) const {
    return depth_ > 1 ? name + "." + key : key;
  }

  Json items(const std::vector<IValue>& values, const std::string& name) {
    Json list = Json::array();
    for (size_t i = 0; i < values.size(); ++i) list.push_back(write(values[i], joined(name, std::to_string(i))));
    return list;
  }

  Json entries(const IValue& value, const std::string& name) {
    Json list = Json::array();
    for (const auto& [key, item] : value.toGenericDict().data()->entries) {
      if (!key.isString() && !key.isScalar() && !key.isNone()) {
        io_fail("save_safetensors", "'", name, "': expected texts and numbers as keys, got ", key.tagKind());
      }
      const std::string part = key.isString() ? key.toStringRef() : detail::str(key);
      list.push_back(Json::array({write(key, name), write(item, joined(name, part))}));
    }
    return list;
  }

  int depth_ = 0;
  size_t count_ = 0;
};

class Reader {
 public:
  Reader(const NamedTensors& tensors, const std::string& label) : label_(label) {
    for (const auto& [name, tensor] : tensors) tensors_.emplace(name, tensor);
  }

  IValue read(const Json& json) {
    if (json.is_null()) return IValue();
    if (json.is_boolean()) return IValue(json.get<bool>());
    if (json.is_number_float()) return IValue(json.get<double>());
    if (json.is_number_integer()) return IValue(json.get<int64_t>());
    if (json.is_string()) return IValue(json.get<std::string>());
    if (!json.is_object() || json.size() != 1) fail("expected a value of one kind");
    return read_tagged(json.begin().key(), json.begin().value());
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    io_fail("load_safetensors", "'", label_, "': its structure is malformed: ", why);
  }

  IValue read_tagged(const std::string& kind, const Json& json) {
    if (kind == "dict" && json.is_array()) return read_dict(json);
    if (kind == "list" && json.is_array()) {
      auto list = std::make_shared<ivalue::ListData>();
      list->element_type = AnyType::get();
      list->items = read_items(json);
      return IValue(std::move(list));
    }
    if (kind == "tuple" && json.is_array()) return IValue(ivalue::TupleData::create(read_items(json)));
    if (kind == "complex" && json.is_array() && json.size() == 2) {
      return IValue(Complex<double>(read(json[0]).toDouble(), read(json[1]).toDouble()));
    }
    if (!json.is_string()) fail("expected a text or a list under '" + kind + "'");
    const auto& text = json.get_ref<const std::string&>();
    if (kind == "tensor") {
      const auto found = tensors_.find(text);
      if (found == tensors_.end()) fail("it names a tensor '" + text + "' that is not there");
      return found->second;
    }
    if (kind == "float") return IValue(text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL);
    if (kind == "device") return IValue(Device(text));
    if (kind == "bytes") return IValue(read_bytes(text));
    fail("kind '" + kind + "' is unknown");
  }

  std::vector<IValue> read_items(const Json& json) {
    std::vector<IValue> items;
    for (const Json& item : json) items.push_back(read(item));
    return items;
  }

  IValue read_dict(const Json& json) {
    Dict<IValue, IValue> dict;
    for (const Json& entry : json) {
      if (!entry.is_array() || entry.size() != 2) fail("expected a key and a value");
      IValue key = read(entry[0]);
      if (!key.isString() && !key.isScalar() && !key.isNone()) fail("expected a plain key");
      dict.insert_or_assign(std::move(key), read(entry[1]));
    }
    return dict;
  }

  std::string read_bytes(const std::string& digits) const {
    const std::string known = "0123456789abcdef";
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
      const size_t high = known.find(digits[i]), low = known.find(digits[i + 1]);
      if (high == std::string::npos || low == std::string::npos) fail("expected hexadecimal digits");
      bytes += static_cast<char>(high << 4 | low);
    }
    return bytes;
  }

  const std::string& label_;
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace

std::string structure_text(const IValue& value) { return Writer().write(value, "").dump(); }

IValue value_of_structure(const std::string& text, const NamedTensors& tensors, const std::string& label) {
  const auto fail = [&](const std::string& why) { io_fail("load_safetensors", "'", label, "': its structure: ", why); };
  try {
    return Reader(tensors, label).read(parse_checked_json(text, 4 * kMaxDepth, fail));
  } catch (const Json::exception& error) {
    io_fail("load_safetensors", "'", label, "': its structure is not JSON: ", error.what());
  }
}

}  // namespace hb::io

#include "parity_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace parity_diff {
namespace {

using nlohmann::json;

struct DtypeRow {
  Dtype dtype;
  const char* file_name;
  const char* name;
  int64_t bytes;
};

constexpr DtypeRow kDtypes[] = {{Dtype::f64, "F64", "f64", 8}, {Dtype::f32, "F32", "f32", 4},
                                {Dtype::f16, "F16", "f16", 2}, {Dtype::bf16, "BF16", "bf16", 2},
                                {Dtype::i64, "I64", "i64", 8}, {Dtype::i32, "I32", "i32", 4},
                                {Dtype::i16, "I16", "i16", 2}, {Dtype::i8, "I8", "i8", 1},
                                {Dtype::u8, "U8", "u8", 1},    {Dtype::boolean, "BOOL", "bool", 1}};

const DtypeRow& row_of(Dtype dtype) {
  for (const auto& row : kDtypes) {
    if (row.dtype == dtype) return row;
  }
  throw std::logic_error("a dtype without a row");
}

Dtype parse_dtype(const std::string& text) {
  for (const auto& row : kDtypes) {
    if (text == row.file_name) return row.dtype;
  }
  throw std::runtime_error(fmt::format("unknown dtype '{}'", text));
}

float half_to_float(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return static_cast<float>(mantissa ? std::nan("") : sign * INFINITY);
  if (exponent == 0) return static_cast<float>(sign * std::ldexp(mantissa, -24));
  return static_cast<float>(sign * std::ldexp(1024 + mantissa, exponent - 25));
}

float bfloat16_to_float(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <typename T>
T element(const std::string& bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

Array parse_array(const std::string& name, const json& entry, const std::string& data) {
  Array array{parse_dtype(entry.at("dtype")), entry.at("shape").get<std::vector<int64_t>>(), ""};
  const auto range = entry.at("data_offsets").get<std::vector<uint64_t>>();
  if (range.size() != 2 || range[0] > range[1] || range[1] > data.size()) {
    throw std::runtime_error(fmt::format("'{}' lies outside the file's data", name));
  }
  array.bytes = data.substr(range[0], range[1] - range[0]);
  if (array.size() * bytes_of(array.dtype) != static_cast<int64_t>(array.bytes.size())) {
    throw std::runtime_error(fmt::format("'{}' has {} bytes, its shape {} of {} needs {}", name, array.bytes.size(),
                                         shape_text(array.shape), name_of(array.dtype),
                                         array.size() * bytes_of(array.dtype)));
  }
  return array;
}

ParityFile parse_safetensors(const std::string& file) {
  if (file.size() < 8) throw std::runtime_error("too short for a safetensors header");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(file[i]);
  if (length > file.size() - 8) throw std::runtime_error("the header is longer than the file");
  const json header = json::parse(file.substr(8, length));
  const std::string data = file.substr(8 + length);
  ParityFile result;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      result.metadata = entry.get<std::map<std::string, std::string>>();
    } else {
      result.arrays.emplace(name, parse_array(name, entry, data));
    }
  }
  return result;
}

ParityFile parse_numbers(const std::string& file) {
  ParityFile result;
  for (const auto& [name, entry] : json::parse(file).items()) {
    if (!entry.is_number() && !entry.is_array()) continue;
    std::vector<double> values;
    for (const auto& value : entry.is_array() ? entry : json::array({entry})) {
      values.push_back(value.is_null() ? std::nan("") : value.get<double>());
    }
    Array array{Dtype::f64, {static_cast<int64_t>(values.size())}, ""};
    array.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    result.arrays.emplace(name, std::move(array));
  }
  return result;
}

}  // namespace

int64_t Array::size() const {
  int64_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}

double Array::number(int64_t i) const {
  switch (dtype) {
    case Dtype::f64:
      return element<double>(bytes, i);
    case Dtype::f32:
      return element<float>(bytes, i);
    case Dtype::f16:
      return half_to_float(element<uint16_t>(bytes, i));
    case Dtype::bf16:
      return bfloat16_to_float(element<uint16_t>(bytes, i));
    default:
      return static_cast<double>(integer(i));
  }
}

int64_t Array::integer(int64_t i) const {
  switch (dtype) {
    case Dtype::i64:
      return element<int64_t>(bytes, i);
    case Dtype::i32:
      return element<int32_t>(bytes, i);
    case Dtype::i16:
      return element<int16_t>(bytes, i);
    case Dtype::i8:
      return element<int8_t>(bytes, i);
    case Dtype::u8:
      return element<uint8_t>(bytes, i);
    case Dtype::boolean:
      return element<uint8_t>(bytes, i);
    default:
      throw std::logic_error("integer() of a float array");
  }
}

const char* name_of(Dtype dtype) { return row_of(dtype).name; }
int64_t bytes_of(Dtype dtype) { return row_of(dtype).bytes; }

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

ParityFile read_parity_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::ostringstream content;
  content << stream.rdbuf();
  try {
    const bool is_json = path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
    return is_json ? parse_numbers(content.str()) : parse_safetensors(content.str());
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace parity_diff

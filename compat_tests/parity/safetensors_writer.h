// Writes one safetensors file: an 8-byte little-endian header length, a JSON header, then the raw data.
// No tensor library is needed, so that both builds of a program share it.
#pragma once
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace parity {

class SafetensorsWriter {
 public:
  // `dtype` is safetensors' name: BOOL U8 I8 I16 I32 I64 F16 BF16 F32 F64.
  void add(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape, const void* data,
           size_t bytes) {
    const auto begin = data_.size();
    if (bytes) data_.append(static_cast<const char*>(data), bytes);
    std::string dims;
    for (auto d : shape) dims += (dims.empty() ? "" : ",") + std::to_string(d);
    entries_ += (entries_.empty() ? "" : ",\n") + quoted(name) + ":{\"dtype\":\"" + dtype + "\",\"shape\":[" + dims +
                "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data_.size()) + "]}";
  }

  void add_metadata(const std::string& key, const std::string& value) {
    metadata_ += (metadata_.empty() ? "" : ",\n") + quoted(key) + ":" + quoted(value);
  }

  void write(const std::string& path) const {
    std::string header = "{";
    if (!metadata_.empty()) header += "\"__metadata__\":{" + metadata_ + "}" + (entries_.empty() ? "" : ",\n");
    header += entries_ + "}";
    while (header.size() % 8 != 0) header += ' ';
    unsigned char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(header.size() >> (8 * i));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(length), 8);
    file << header << data_;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (unsigned char ch : text) {
      if (ch == '"' || ch == '\\') {
        out += '\\';
        out += static_cast<char>(ch);
      } else if (ch < 0x20) {
        const char* hex = "0123456789abcdef";
        out += std::string("\\u00") + hex[ch >> 4] + hex[ch & 15];
      } else {
        out += static_cast<char>(ch);
      }
    }
    return out + "\"";
  }

  std::string entries_, metadata_, data_;
};

}  // namespace parity

// Builds zip archives byte by byte, also such as no honest writer makes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace unit {

inline uint32_t crc32_of(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

inline std::string little(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// An archive of stored records.
inline std::vector<char> zip_of(const std::vector<std::pair<std::string, std::string>>& records) {
  std::string archive, directory;
  for (const auto& [name, data] : records) {
    const std::string sizes = little(crc32_of(data), 4) + little(data.size(), 4) + little(data.size(), 4);
    const std::string head =
        little(20, 2) + little(0, 2) + little(0, 2) + little(0, 4) + sizes + little(name.size(), 2);
    directory += little(0x02014b50, 4) + little(20, 2) + head + little(0, 2) + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(archive.size(), 4) + name;
    archive += little(0x04034b50, 4) + head + little(0, 2) + name + data;
  }
  const std::string end = little(0x06054b50, 4) + little(0, 2) + little(0, 2) + little(records.size(), 2) +
                          little(records.size(), 2) + little(directory.size(), 4) + little(archive.size(), 4) +
                          little(0, 2);
  archive += directory + end;
  return std::vector<char>(archive.begin(), archive.end());
}

/// What torch::pickle_load reads: a pickle and the storage "0".
inline std::vector<char> archive_of(const std::string& pickle, const std::string& storage = std::string(16, '\0')) {
  return zip_of({{"a/data.pkl", pickle}, {"a/data/0", storage}, {"a/version", "3\n"}, {"a/byteorder", "little"}});
}

}  // namespace unit

// Writes the zip archives that PyTorch reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hb::io {

/// Streams a zip archive of stored (uncompressed) records, the data of each aligned to 64 bytes, to a sink.
///
/// Not libzip: PyTorch maps archives into memory and expects aligned records, which needs a filler in each
/// local header that depends on the offset of the header; libzip neither says that offset nor writes to a
/// plain stream without holding the whole archive.
class ZipWriter {
 public:
  using Sink = std::function<void(const void*, size_t)>;

  /// Every record stands in the folder `root` inside the archive.
  ZipWriter(std::string root, Sink sink);

  void add(std::string_view name, const void* data, size_t size);
  void add(std::string_view name, std::string_view text) { add(name, text.data(), text.size()); }
  /// Writes the central directory. Nothing may be added afterwards.
  void finish();

  /// A number that depends on the names and contents so far, in 40 digits, as PyTorch records it.
  std::string content_id() const;

 private:
  struct Entry {
    std::string name;
    uint64_t size;
    uint64_t offset;
    uint32_t crc;
  };
  void emit(const void* data, size_t size);
  void emit(const std::string& bytes) { emit(bytes.data(), bytes.size()); }

  std::string root_;
  Sink sink_;
  std::vector<Entry> entries_;
  uint64_t position_ = 0;
};

}  // namespace hb::io

// Byte streams that may be gzipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace hb::io {

/// Reads bytes from a file or from memory; gzip data is recognised and unpacked.
class GzipReader {
 public:
  static GzipReader open_file(const std::string& path);
  /// The bytes must outlive the reader.
  static GzipReader open_memory(const void* data, size_t size, std::string label);
  ~GzipReader();
  GzipReader(GzipReader&&) noexcept;

  /// Reads up to `size` bytes; fewer only at the end. Throws for a corrupt or truncated gzip stream.
  size_t read(void* target, size_t size);
  const std::string& label() const { return label_; }

 private:
  struct State;
  GzipReader(std::unique_ptr<State> state, std::string label);
  size_t read_plain(uint8_t* target, size_t size);
  bool refill();

  std::unique_ptr<State> state_;
  std::string label_;
};

}  // namespace hb::io

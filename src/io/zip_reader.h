// Reads PyTorch's zip archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct zip;

namespace hb::io {

/// A zip archive from a file or from memory. Compressed records are read too, checksums are verified, and a
/// record can be no larger than the archive can hold. Errors name the archive and the record.
class ZipReader {
 public:
  static ZipReader open_file(const std::string& path);
  /// The bytes must outlive the reader. `label` names them in errors.
  static ZipReader open_memory(const void* data, size_t size, std::string label);

  /// The folder that holds all records, without its slash.
  const std::string& root() const { return root_; }
  /// Names of the records below the root, in the archive's order.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const { return index_.count(name) > 0; }
  uint64_t size(const std::string& name) const;
  /// Reads a whole record of text (a pickle, code): at most `limit` bytes, and no more than texts unpack to.
  std::string read(const std::string& name, uint64_t limit) const;
  /// Reads a whole record that must have exactly `size` bytes.
  void read_into(const std::string& name, void* target, uint64_t size) const;
  /// What errors call this archive.
  const std::string& label() const { return label_; }

 private:
  struct Closer {
    void operator()(zip* archive) const;
  };
  struct Record {
    uint64_t index;
    uint64_t size;
    uint64_t packed;  // bytes in the archive
  };
  ZipReader(std::unique_ptr<zip, Closer> archive, std::string label, uint64_t archive_size);
  /// Returns the bytes that the record takes in the archive.
  uint64_t add_record(uint64_t index, uint64_t archive_size);
  const Record& find(const std::string& name) const;
  void extract(const std::string& name, const Record& record, void* target) const;

  std::unique_ptr<zip, Closer> archive_;
  std::string label_;
  std::string root_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, Record> index_;
};

}  // namespace hb::io

// What a Trace keeps beside its records: open files and the index of states.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/diff/trace.h>

namespace hb::layer_diff {

/// An open file. Reads at any place, from any thread.
class ReadFile {
 public:
  explicit ReadFile(std::string path);
  ~ReadFile();
  ReadFile(ReadFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;
  ReadFile& operator=(ReadFile&&) = delete;
  void read(void* target, uint64_t offset, uint64_t count) const;

 private:
  std::string path_;
  int fd_;
};

struct Trace::Files {
  std::vector<ReadFile> files;
  std::vector<int64_t> steps;  // that were recorded, sorted
  // By (root, path): what the trace has of a module beside its calls, in order.
  std::map<std::pair<std::string, std::string>, std::vector<const Record*>> modules;
};

}  // namespace hb::layer_diff

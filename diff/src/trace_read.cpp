#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <halfbridge/error.h>
#include <halfbridge/ops/factories.h>

#include "read_double.h"
#include "trace_files.h"

namespace hb::layer_diff {

ReadFile::ReadFile(std::string path) : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw Error("[trace] cannot open '" + path_ + "': " + std::strerror(errno));
}

ReadFile::~ReadFile() {
  if (fd_ >= 0) ::close(fd_);
}

void ReadFile::read(void* target, uint64_t offset, uint64_t count) const {
  char* to = static_cast<char*>(target);
  while (count > 0) {
    const ssize_t got = ::pread(fd_, to, std::min<uint64_t>(count, 1 << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("[trace] cannot read '" + path_ + "': " + std::strerror(errno));
    if (got == 0) throw Error("[trace] '" + path_ + "' became shorter while it was read");
    to += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<uint64_t>(got);
  }
}

int64_t Record::numel() const {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

Trace::~Trace() = default;

Tensor Trace::load(const Record& record) const {
  HB_CHECK(record.file >= 0, "[trace] expected a record with its tensor, got one of statistics alone");
  Tensor tensor = hb::empty(record.shape, TensorOptions().dtype(record.dtype));
  files_->files[static_cast<size_t>(record.file)].read(tensor.data_ptr(), record.offset, record.bytes);
  return tensor;
}

void Trace::read_raw(const Record& record, int64_t first, int64_t count, void* bytes) const {
  HB_CHECK(record.file >= 0, "[trace] expected a record with its tensor, got one of statistics alone");
  HB_CHECK(first >= 0 && count >= 0 && first <= record.numel() - count, "[trace] expected elements 0 to ",
           record.numel(), ", got ", count, " from ", first);
  const uint64_t size = element_size(record.dtype);
  files_->files[static_cast<size_t>(record.file)].read(bytes, record.offset + static_cast<uint64_t>(first) * size,
                                                       static_cast<uint64_t>(count) * size);
}

void Trace::read(const Record& record, int64_t first, int64_t count, double* values) const {
  std::vector<char> bytes(static_cast<size_t>(std::max<int64_t>(count, 0)) * element_size(record.dtype));
  read_raw(record, first, count, bytes.data());
  to_double(record.dtype, bytes.data(), count, values);
}

const std::vector<const Record*>& Trace::of_module(const std::string& root, const std::string& path) const {
  static const std::vector<const Record*> none;
  const auto found = files_->modules.find({root, path});
  return found == files_->modules.end() ? none : found->second;
}

std::map<std::string, const Record*> Trace::state_of(const std::string& root, const std::string& path,
                                                     int64_t step) const {
  std::map<std::string, const Record*> result;
  const auto updated = [](const Record& r) {
    return r.kind == Kind::updated_parameter || r.kind == Kind::updated_buffer;
  };
  for (const Record* record : of_module(root, path)) {
    if (!updated(*record) && record->kind != Kind::parameter && record->kind != Kind::buffer) continue;
    if (record->step > step || (updated(*record) && record->step == step)) continue;
    const Record*& best = result[record->name];
    // What a step left behind comes after what it began with.
    const auto age = [&](const Record* r) { return std::pair(r->step, updated(*r)); };
    if (!best || age(best) < age(record)) best = record;
  }
  // A value of an earlier step still holds if every step since was recorded: a change would have been.
  const std::vector<int64_t>& steps = files_->steps;
  for (auto it = result.begin(); it != result.end();) {
    const int64_t since = it->second->step;
    const auto recorded = std::count_if(steps.begin(), steps.end(), [&](int64_t s) { return s >= since && s < step; });
    it = recorded == step - since ? std::next(it) : result.erase(it);
  }
  return result;
}

}  // namespace hb::layer_diff

#include <halfbridge/io/idx.h>

#include <algorithm>

#include <sys/stat.h>

#include "io/gzip.h"
#include "io/io_error.h"

namespace hb::io {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 36;
constexpr size_t kFirstStep = size_t{1} << 20;

bool exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

size_t element_size(uint8_t code, const std::string& label) {
  switch (static_cast<IdxType>(code)) {
    case IdxType::UInt8:
    case IdxType::Int8:
      return 1;
    case IdxType::Int16:
      return 2;
    case IdxType::Int32:
    case IdxType::Float:
      return 4;
    case IdxType::Double:
      return 8;
  }
  io_fail("read_idx", "'", label, "': expected a type code of 8, 9, 11, 12, 13 or 14, got ", int{code});
}

void read_exactly(GzipReader& in, uint8_t* target, size_t size, const char* what) {
  const size_t got = in.read(target, size);
  if (got != size) {
    io_fail("read_idx", "'", in.label(), "' is truncated: expected ", size, " bytes of ", what, ", got ", got);
  }
}

std::vector<int64_t> read_shape(GzipReader& in, size_t dims) {
  std::vector<int64_t> shape(dims);
  for (int64_t& size : shape) {
    uint8_t b[4];
    read_exactly(in, b, sizeof b, "dimensions");
    size = int64_t{b[0]} << 24 | int64_t{b[1]} << 16 | int64_t{b[2]} << 8 | int64_t{b[3]};
  }
  return shape;
}

size_t total_bytes(const std::vector<int64_t>& shape, size_t item, const std::string& label) {
  int64_t total = static_cast<int64_t>(item);
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(total, size, &total) || total > kMaxBytes) {
      io_fail("read_idx", "'", label, "' claims more than ", kMaxBytes, " bytes");
    }
  }
  return static_cast<size_t>(total);
}

// The memory grows with what is really there, whatever the header claims.
std::vector<uint8_t> read_elements(GzipReader& in, size_t total) {
  std::vector<uint8_t> bytes;
  for (size_t done = 0; done < total; done = bytes.size()) {
    const size_t step = std::min(total - done, std::max(done, kFirstStep));
    bytes.resize(done + step);
    const size_t got = in.read(bytes.data() + done, step);
    if (got != step) {
      io_fail("read_idx", "'", in.label(), "' is truncated: expected ", total, " bytes of data, got ", done + got);
    }
  }
  uint8_t extra;
  if (in.read(&extra, 1) != 0) io_fail("read_idx", "'", in.label(), "' has bytes after its ", total, " bytes of data");
  return bytes;
}

void to_host_order(std::vector<uint8_t>& bytes, size_t item) {
  if (item == 1 || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) return;
  for (size_t i = 0; i < bytes.size(); i += item) std::reverse(bytes.begin() + i, bytes.begin() + i + item);
}

IdxArray read_from(GzipReader& in) {
  uint8_t magic[4];
  read_exactly(in, magic, sizeof magic, "magic number");
  if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0) {
    io_fail("read_idx", "'", in.label(), "': expected an IDX magic number (0, 0, type, dimensions), got (",
            int{magic[0]}, ", ", int{magic[1]}, ", ", int{magic[2]}, ", ", int{magic[3]}, ")");
  }
  const size_t item = element_size(magic[2], in.label());
  IdxArray array;
  array.type = static_cast<IdxType>(magic[2]);
  array.shape = read_shape(in, magic[3]);
  array.bytes = read_elements(in, total_bytes(array.shape, item, in.label()));
  to_host_order(array.bytes, item);
  return array;
}

}  // namespace

IdxArray read_idx(const std::string& path) {
  const std::string packed = path + ".gz";
  GzipReader in = GzipReader::open_file(!exists(path) && exists(packed) ? packed : path);
  return read_from(in);
}

IdxArray parse_idx(const void* data, size_t size, const std::string& label) {
  GzipReader in = GzipReader::open_memory(data, size, label);
  return read_from(in);
}

}  // namespace hb::io

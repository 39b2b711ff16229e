#include "io/gzip.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <zlib.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

constexpr size_t kChunk = size_t{1} << 16;
constexpr size_t kMaxStep = size_t{1} << 30;  // zlib counts in 32 bits
constexpr int kGzipWindow = 15 + 16;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

struct GzipReader::State {
  std::unique_ptr<std::FILE, FileCloser> file;  // null: the bytes are in memory
  const uint8_t* next = nullptr;
  size_t available = 0;
  std::vector<uint8_t> chunk;
  z_stream stream{};
  bool gzipped = false;
  bool member_open = false;

  ~State() {
    if (gzipped) inflateEnd(&stream);
  }
};

GzipReader::GzipReader(std::unique_ptr<State> state, std::string label)
    : state_(std::move(state)), label_(std::move(label)) {
  refill();
  state_->gzipped = state_->available >= 2 && state_->next[0] == 0x1f && state_->next[1] == 0x8b;
  if (!state_->gzipped) return;
  state_->member_open = true;
  if (inflateInit2(&state_->stream, kGzipWindow) != Z_OK) io_fail("gzip", "cannot start to unpack '", label_, "'");
}

GzipReader::~GzipReader() = default;
GzipReader::GzipReader(GzipReader&&) noexcept = default;

GzipReader GzipReader::open_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) io_fail("read", "cannot open '", path, "': ", std::strerror(errno));
  if (!S_ISREG(info.st_mode)) io_fail("read", "expected a regular file, got '", path, "'");
  auto state = std::make_unique<State>();
  state->file.reset(std::fopen(path.c_str(), "rbe"));
  if (!state->file) io_fail("read", "cannot open '", path, "': ", std::strerror(errno));
  state->chunk.resize(kChunk);
  return GzipReader(std::move(state), path);
}

GzipReader GzipReader::open_memory(const void* data, size_t size, std::string label) {
  auto state = std::make_unique<State>();
  state->next = static_cast<const uint8_t*>(data);
  state->available = size;
  return GzipReader(std::move(state), std::move(label));
}

// Makes sure that bytes are available; false at the end.
bool GzipReader::refill() {
  State& s = *state_;
  if (s.available > 0) return true;
  if (!s.file) return false;
  s.available = std::fread(s.chunk.data(), 1, s.chunk.size(), s.file.get());
  s.next = s.chunk.data();
  if (s.available == 0 && std::ferror(s.file.get())) {
    io_fail("read", "cannot read '", label_, "': ", std::strerror(errno));
  }
  return s.available > 0;
}

size_t GzipReader::read_plain(uint8_t* target, size_t size) {
  size_t done = 0;
  while (done < size && refill()) {
    const size_t step = std::min(size - done, state_->available);
    std::memcpy(target + done, state_->next, step);
    state_->next += step;
    state_->available -= step;
    done += step;
  }
  return done;
}

size_t GzipReader::read(void* target, size_t size) {
  State& s = *state_;
  if (!s.gzipped) return read_plain(static_cast<uint8_t*>(target), size);
  uint8_t* out = static_cast<uint8_t*>(target);
  size_t done = 0;
  while (done < size) {
    if (!refill()) {
      if (!s.member_open) break;
      io_fail("gzip", "'", label_, "' is truncated");
    }
    if (!s.member_open) {  // a gzip file may be several, one after the other
      inflateReset(&s.stream);
      s.member_open = true;
    }
    const size_t in_step = std::min(s.available, kMaxStep);
    const size_t out_step = std::min(size - done, kMaxStep);
    s.stream.next_in = const_cast<Bytef*>(s.next);
    s.stream.avail_in = static_cast<uInt>(in_step);
    s.stream.next_out = out + done;
    s.stream.avail_out = static_cast<uInt>(out_step);
    const int code = inflate(&s.stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      io_fail("gzip", "'", label_, "' is corrupt: ", s.stream.msg ? s.stream.msg : zError(code));
    }
    s.next += in_step - s.stream.avail_in;
    s.available -= in_step - s.stream.avail_in;
    done += out_step - s.stream.avail_out;
    if (code == Z_STREAM_END) s.member_open = false;
  }
  return done;
}

}  // namespace hb::io

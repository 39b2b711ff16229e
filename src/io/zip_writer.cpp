#include "io/zip_writer.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include <zlib.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint32_t kMax32 = 0xffffffffu;
constexpr uint16_t kMax16 = 0xffffu;
constexpr uint16_t kUtf8Names = 0x0800;
constexpr uint16_t kZip64Version = 45;
constexpr uint16_t kPlainVersion = 20;
constexpr uint16_t kDosEpochDate = (1 << 5) | 1;  // 1980-01-01: archives of equal content are equal files
constexpr size_t kLocalHeaderSize = 30;
constexpr size_t kFillerHeaderSize = 4;

// Zip's integers are little-endian whatever the machine is.
class Bytes {
 public:
  Bytes& u16(uint64_t value) { return put(value, 2); }
  Bytes& u32(uint64_t value) { return put(value, 4); }
  Bytes& u64(uint64_t value) { return put(value, 8); }
  Bytes& text(std::string_view value) {
    bytes_.append(value);
    return *this;
  }
  Bytes& fill(size_t count, char value) {
    bytes_.append(count, value);
    return *this;
  }
  const std::string& str() const { return bytes_; }

 private:
  Bytes& put(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  std::string bytes_;
};

uint32_t crc_of(const void* data, size_t size) {
  return static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), static_cast<const Bytef*>(data), size));
}

uint64_t clip32(uint64_t value) { return std::min<uint64_t>(value, kMax32); }

}  // namespace

ZipWriter::ZipWriter(std::string root, Sink sink) : root_(std::move(root)), sink_(std::move(sink)) {}

void ZipWriter::emit(const void* data, size_t size) {
  if (size == 0) return;
  sink_(data, size);
  position_ += size;
}

void ZipWriter::add(std::string_view name, const void* data, size_t size) {
  Entry entry{root_ + "/" + std::string(name), size, position_, crc_of(data, size)};
  if (entry.name.size() > kMax16)
    io_fail("zip", "expected a record name of at most 65535 bytes, got ", entry.name.size());
  const bool big = size >= kMax32;
  const size_t zip64_size = big ? 20 : 0;
  const uint64_t unpadded = position_ + kLocalHeaderSize + entry.name.size() + zip64_size + kFillerHeaderSize;
  const size_t filler = (kAlignment - unpadded % kAlignment) % kAlignment;

  Bytes header;
  header.u32(0x04034b50).u16(big ? kZip64Version : kPlainVersion).u16(kUtf8Names).u16(0).u16(0).u16(kDosEpochDate);
  header.u32(entry.crc).u32(clip32(size)).u32(clip32(size));
  header.u16(entry.name.size()).u16(zip64_size + kFillerHeaderSize + filler).text(entry.name);
  if (big) header.u16(1).u16(16).u64(size).u64(size);
  header.text("FB").u16(filler).fill(filler, 'Z');  // the padding field of PyTorch's own archives
  emit(header.str());
  emit(data, size);
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t start = position_;
  for (const Entry& entry : entries_) {
    Bytes zip64;
    if (entry.size >= kMax32) zip64.u64(entry.size).u64(entry.size);
    if (entry.offset >= kMax32) zip64.u64(entry.offset);
    const size_t zip64_size = zip64.str().empty() ? 0 : 4 + zip64.str().size();
    const uint16_t version = zip64_size ? kZip64Version : kPlainVersion;
    Bytes header;
    header.u32(0x02014b50).u16(version).u16(version).u16(kUtf8Names).u16(0).u16(0).u16(kDosEpochDate);
    header.u32(entry.crc).u32(clip32(entry.size)).u32(clip32(entry.size));
    header.u16(entry.name.size()).u16(zip64_size).u16(0).u16(0).u16(0).u32(0).u32(clip32(entry.offset));
    header.text(entry.name);
    if (zip64_size) header.u16(1).u16(zip64.str().size()).text(zip64.str());
    emit(header.str());
  }
  const uint64_t size = position_ - start;
  const uint64_t count = entries_.size();
  Bytes end;
  if (start >= kMax32 || size >= kMax32 || count >= kMax16) {
    const uint64_t record = position_;
    end.u32(0x06064b50).u64(44).u16(kZip64Version).u16(kZip64Version).u32(0).u32(0);
    end.u64(count).u64(count).u64(size).u64(start);
    end.u32(0x07064b50).u32(0).u64(record).u32(1);
  }
  const uint64_t count16 = std::min<uint64_t>(count, kMax16);
  end.u32(0x06054b50).u16(0).u16(0).u16(count16).u16(count16).u32(clip32(size)).u32(clip32(start)).u16(0);
  emit(end.str());
}

std::string ZipWriter::content_id() const {
  // FNV-1a over the names, and a checksum of the checksums.
  uint64_t names = 14695981039346656037ull;
  uint64_t contents = names;
  const auto mix = [](uint64_t& hash, unsigned char byte) { hash = (hash ^ byte) * 1099511628211ull; };
  for (const Entry& entry : entries_) {
    const size_t skip = root_.size() + 1;  // the same content under another file name keeps its number
    for (unsigned char c : std::string_view(entry.name).substr(skip)) mix(names, c);
    for (int shift = 0; shift < 32; shift += 8) mix(contents, static_cast<unsigned char>(entry.crc >> shift));
  }
  char text[48];
  std::snprintf(text, sizeof text, "%020" PRIu64 "%020" PRIu64, names, contents);
  return text;
}

}  // namespace hb::io

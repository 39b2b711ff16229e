#include "io/zip_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <zip.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

constexpr zip_int64_t kMaxRecords = 1 << 22;
// Deflate cannot expand further than this: a larger claim is a lie.
constexpr uint64_t kMaxExpansion = 1032;
// Code and pickles repeat themselves less than zeros do.
constexpr uint64_t kMaxTextExpansion = 64, kFreeText = uint64_t{1} << 20;

std::string error_text(zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  return text;
}

[[noreturn]] void fail_open(const std::string& label, const std::string& why) {
  io_fail("load",
          "PytorchStreamReader failed reading zip archive: expected a PyTorch zip archive (torch.save writes them ",
          "since 1.6), got '", label, "': ", why);
}

}  // namespace

void ZipReader::Closer::operator()(zip* archive) const { zip_discard(archive); }

ZipReader ZipReader::open_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    io_fail("load", "open file failed because of errno ", errno, " on fopen: ", std::strerror(errno),
            ", file path: ", path);
  if (!S_ISREG(info.st_mode)) io_fail("load", "expected a regular file, got '", path, "'");
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    fail_open(path, error_text(&error));
  }
  return ZipReader(std::unique_ptr<zip, Closer>(archive), path, static_cast<uint64_t>(info.st_size));
}

ZipReader ZipReader::open_memory(const void* data, size_t size, std::string label) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(data, size, 0, &error);
  if (!source) fail_open(label, error_text(&error));
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (!archive) {
    zip_source_free(source);
    fail_open(label, error_text(&error));
  }
  zip_error_fini(&error);
  return ZipReader(std::unique_ptr<zip, Closer>(archive), std::move(label), size);
}

ZipReader::ZipReader(std::unique_ptr<zip, Closer> archive, std::string label, uint64_t archive_size)
    : archive_(std::move(archive)), label_(std::move(label)) {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  if (count <= 0) fail_open(label_, "it has no records");
  if (count > kMaxRecords) fail_open(label_, "it has too many records");
  const char* first = zip_get_name(archive_.get(), 0, ZIP_FL_ENC_RAW);
  const char* slash = first ? std::strchr(first, '/') : nullptr;
  if (!slash) fail_open(label_, "its records do not stand in a folder");
  root_.assign(first, slash);
  uint64_t stored = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    stored += add_record(static_cast<uint64_t>(i), archive_size);
    // Records that overlap would let a small file claim any amount of memory.
    if (stored > archive_size) fail_open(label_, "its records overlap");
  }
}

uint64_t ZipReader::add_record(uint64_t index, uint64_t archive_size) {
  zip_stat_t stat;
  if (zip_stat_index(archive_.get(), index, ZIP_FL_ENC_RAW, &stat) != 0) {
    fail_open(label_, zip_strerror(archive_.get()));
  }
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) fail_open(label_, "a record has no size");
  if (std::strncmp(stat.name, root_.c_str(), root_.size()) != 0 || stat.name[root_.size()] != '/') return 0;
  std::string name = stat.name + root_.size() + 1;  // others are not PyTorch's
  const uint64_t most = stat.comp_method == ZIP_CM_STORE ? archive_size : archive_size * kMaxExpansion;
  if (stat.comp_size > archive_size || stat.size > most) {
    fail_open(label_, "record '" + name + "' claims more bytes than the archive can hold");
  }
  if (!index_.emplace(name, Record{index, stat.size, stat.comp_size}).second)
    fail_open(label_, "record '" + name + "' is there twice");
  names_.push_back(std::move(name));
  return stat.comp_size;
}

const ZipReader::Record& ZipReader::find(const std::string& name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) io_fail("load", "expected a record '", name, "' in '", label_, "', got none");
  return found->second;
}

uint64_t ZipReader::size(const std::string& name) const { return find(name).size; }

void ZipReader::extract(const std::string& name, const Record& record, void* target) const {
  const auto fail = [&](const std::string& why) { io_fail("load", "record '", name, "' of '", label_, "': ", why); };
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive_.get(), record.index, 0), zip_fclose);
  if (!file) fail(zip_strerror(archive_.get()));
  char* out = static_cast<char*>(target);
  uint64_t done = 0;
  while (done < record.size) {
    const zip_int64_t got = zip_fread(file.get(), out + done, std::min<uint64_t>(record.size - done, 1u << 30));
    if (got < 0) fail(zip_file_strerror(file.get()));
    if (got == 0) fail("expected " + std::to_string(record.size) + " bytes, got " + std::to_string(done));
    done += static_cast<uint64_t>(got);
  }
  // The checksum is verified when the end is reached, which one more read asks for.
  char extra;
  const zip_int64_t rest = zip_fread(file.get(), &extra, 1);
  if (rest < 0) fail(zip_file_strerror(file.get()));
  if (rest > 0) fail("it has more bytes than the " + std::to_string(record.size) + " that the archive says");
}

std::string ZipReader::read(const std::string& name, uint64_t limit) const {
  const Record& record = find(name);
  if (record.size > limit) {
    io_fail("load", "record '", name, "' of '", label_, "': expected at most ", limit, " bytes, got ", record.size);
  }
  if (record.size > kFreeText + kMaxTextExpansion * record.packed) {
    io_fail("load", "record '", name, "' of '", label_, "': expected at most ", kMaxTextExpansion, " times its ",
            record.packed, " bytes, got ", record.size);
  }
  std::string bytes(record.size, '\0');
  extract(name, record, bytes.data());
  return bytes;
}

void ZipReader::read_into(const std::string& name, void* target, uint64_t size) const {
  const Record& record = find(name);
  if (record.size != size) {
    io_fail("load", "record '", name, "' of '", label_, "': expected ", size, " bytes, got ", record.size);
  }
  extract(name, record, target);
}

}  // namespace hb::io

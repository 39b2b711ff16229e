#include <halfbridge/bridge/tempfile.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <unistd.h>

#include <halfbridge/error.h>

namespace hb::bridge {

namespace {
// "/tmp/prefixXXXXXX", as mkstemp and mkdtemp want it.
std::string pattern(std::string_view prefix) {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* folder = std::getenv(variable); folder && *folder)
      return std::string(folder) + '/' + std::string(prefix) + "XXXXXX";
  return "/tmp/" + std::string(prefix) + "XXXXXX";
}
}  // namespace

TempFile::TempFile(TempFile&& other) noexcept : fd(std::exchange(other.fd, -1)), name(std::move(other.name)) {}
TempFile& TempFile::operator=(TempFile&& other) noexcept {
  std::swap(fd, other.fd);
  name.swap(other.name);
  return *this;
}
TempFile::~TempFile() {
  if (fd < 0) return;
  ::unlink(name.c_str());
  ::close(fd);
}

TempDir::TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, {})) {}
TempDir& TempDir::operator=(TempDir&& other) noexcept {
  name.swap(other.name);
  return *this;
}
TempDir::~TempDir() {
  if (!name.empty()) ::rmdir(name.c_str());
}

std::optional<TempFile> try_make_tempfile(std::string_view name_prefix) {
  std::string name = pattern(name_prefix);
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return std::nullopt;
  return TempFile(name, fd);
}

TempFile make_tempfile(std::string_view name_prefix) {
  std::optional<TempFile> file = try_make_tempfile(name_prefix);
  HB_CHECK(file, "[make_tempfile] Error generating temporary file: ", std::strerror(errno));
  return std::move(*file);
}

std::optional<TempDir> try_make_tempdir(std::string_view name_prefix) {
  std::string name = pattern(name_prefix);
  if (!::mkdtemp(name.data())) return std::nullopt;
  return TempDir(name);
}

TempDir make_tempdir(std::string_view name_prefix) {
  std::optional<TempDir> folder = try_make_tempdir(name_prefix);
  HB_CHECK(folder, "[make_tempdir] Error generating temporary directory: ", std::strerror(errno));
  return std::move(*folder);
}

}  // namespace hb::bridge

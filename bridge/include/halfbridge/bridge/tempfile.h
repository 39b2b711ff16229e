#pragma once
// c10::TempFile and TempDir: they are deleted with their owner.

#include <optional>
#include <string>
#include <string_view>

#include <halfbridge/macros.h>

namespace hb::bridge {

/// Its file is closed and deleted at the end, unless `fd` is negative.
struct HB_API TempFile {
  TempFile(std::string_view name, int fd = -1) : fd(fd), name(name) {}  // NOLINT: implicit as in LibTorch
  TempFile(TempFile&& other) noexcept;
  TempFile& operator=(TempFile&& other) noexcept;
  ~TempFile();
  int fd;
  std::string name;
};

/// An empty folder when it is made; at the end it is deleted if it is empty.
struct HB_API TempDir {
  explicit TempDir(std::string_view name) : name(name) {}
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();
  std::string name;
};

/// In the folder that TMPDIR, TMP, TEMP or TEMPDIR names, else in /tmp; the rest of the name is random. Nothing, or an
/// error that names the cause, where that is not possible.
HB_API std::optional<TempFile> try_make_tempfile(std::string_view name_prefix = "torch-file-");
HB_API TempFile make_tempfile(std::string_view name_prefix = "torch-file-");
HB_API std::optional<TempDir> try_make_tempdir(std::string_view name_prefix = "torch-dir-");
HB_API TempDir make_tempdir(std::string_view name_prefix = "torch-dir-");

}  // namespace hb::bridge

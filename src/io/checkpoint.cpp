#include <halfbridge/io/checkpoint.h>

#include "io/legacy_archive.h"
#include "io/mapped_file.h"
#include "io/torch_archive.h"

namespace hb::io {

IValue load_checkpoint(const std::string& path, std::optional<Device> device) {
  {
    const MappedFile file(path, "load");
    if (is_legacy_archive(file.bytes())) return read_legacy_archive(file.bytes(), path, device);
  }
  return read_torch_archive(ZipReader::open_file(path), device);
}

void save_checkpoint(const IValue& value, const std::string& path) {
  save_archive(path, [&](ZipWriter& zip) { write_pickle_archive(value, /*for_python=*/true, zip); });
}

std::vector<char> pickle_save(const IValue& value) {
  std::vector<char> bytes;
  ZipWriter zip("archive", [&bytes](const void* data, size_t size) {
    bytes.insert(bytes.end(), static_cast<const char*>(data), static_cast<const char*>(data) + size);
  });
  write_pickle_archive(value, /*for_python=*/false, zip);
  return bytes;
}

IValue pickle_load(const std::vector<char>& data) {
  return read_torch_archive(ZipReader::open_memory(data.data(), data.size(), "memory"), std::nullopt);
}

}  // namespace hb::io

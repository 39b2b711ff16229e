// IDX files, the format of the MNIST data sets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfbridge/macros.h>

namespace hb::io {

/// Type codes of IDX files.
enum class IdxType : uint8_t { UInt8 = 0x08, Int8 = 0x09, Int16 = 0x0b, Int32 = 0x0c, Float = 0x0d, Double = 0x0e };

/// An array as an IDX file holds it.
struct IdxArray {
  IdxType type = IdxType::UInt8;
  std::vector<int64_t> shape;
  /// The elements in row-major order, in the byte order of this machine.
  std::vector<uint8_t> bytes;
};

/// Reads an IDX file, plain or gzipped. Where `path` does not exist but `path` + ".gz" does, that is read.
/// Throws hb::Error for a missing, truncated, overlong or otherwise malformed file.
HB_API IdxArray read_idx(const std::string& path);

/// The same from memory (plain or gzipped); `label` names the data in errors.
HB_API IdxArray parse_idx(const void* data, size_t size, const std::string& label = "memory");

}  // namespace hb::io

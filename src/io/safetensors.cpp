#include <halfbridge/io/safetensors.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <halfbridge/ops/factories.h>

#include "io/atomic_file.h"
#include "io/checked_json.h"
#include "io/io_error.h"

namespace hb::io {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr size_t kLengthBytes = 8;
constexpr size_t kAlignment = 8;
constexpr size_t kMaxDims = 64;
constexpr size_t kMaxDepth = 8;

struct DtypeName {
  ScalarType dtype;
  const char* name;
};
constexpr DtypeName kDtypes[] = {{kDouble, "F64"}, {kFloat, "F32"}, {kHalf, "F16"},   {kBFloat16, "BF16"},
                                 {kLong, "I64"},   {kInt, "I32"},   {kShort, "I16"},  {kChar, "I8"},
                                 {kByte, "U8"},    {kBool, "BOOL"}, {kUInt16, "U16"}, {kUInt32, "U32"},
                                 {kUInt64, "U64"}};

// The bytes of a file or of memory, read at any place.
struct Source {
  std::string label;
  uint64_t size;
  std::function<void(void* target, uint64_t offset, size_t count)> read;
};

Source open_source(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) io_fail("load_safetensors", "cannot open '", path, "': ", std::strerror(errno));
  if (!S_ISREG(info.st_mode)) io_fail("load_safetensors", "expected a regular file, got '", path, "'");
  std::shared_ptr<std::FILE> file(std::fopen(path.c_str(), "rbe"), [](std::FILE* f) {
    if (f) std::fclose(f);
  });
  if (!file) io_fail("load_safetensors", "cannot open '", path, "': ", std::strerror(errno));
  return {path, static_cast<uint64_t>(info.st_size), [file, path](void* target, uint64_t offset, size_t count) {
            const bool ok = ::fseeko(file.get(), static_cast<off_t>(offset), SEEK_SET) == 0 &&
                            std::fread(target, 1, count, file.get()) == count;
            if (!ok) io_fail("load_safetensors", "cannot read '", path, "'");
          }};
}

class Parser {
 public:
  explicit Parser(const Source& source, bool unfinished = false) : source_(source), unfinished_(unfinished) {}

  SafetensorsHeader run() {
    const Json header = read_header();
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        read_metadata(value);
      } else {
        read_tensor(name, value);
      }
    }
    sort_by_place();
    check_coverage();
    return std::move(header_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    io_fail("load_safetensors", "'", source_.label, "': ", parts...);
  }

  Json read_header() {
    if (source_.size < kLengthBytes) fail("expected at least ", kLengthBytes, " bytes, got ", source_.size);
    unsigned char length[kLengthBytes];
    source_.read(length, 0, kLengthBytes);
    uint64_t size = 0;
    for (size_t i = 0; i < kLengthBytes; ++i) size |= uint64_t{length[i]} << (8 * i);
    const uint64_t most = std::min(kMaxHeader, source_.size - kLengthBytes);
    if (size > most) {
      fail("expected a header of at most ", most, " bytes, got ", size, ": it is cut short, or no safetensors file");
    }
    std::string text(size, '\0');
    source_.read(text.data(), kLengthBytes, size);
    data_start_ = kLengthBytes + size;
    return parse_json(text);
  }

  Json parse_json(const std::string& text) const {
    Json header;
    try {
      header = parse_checked_json(text, kMaxDepth, [this](const std::string& why) { fail("its header: ", why); });
    } catch (const Json::exception& error) {
      fail("its header is not JSON: ", error.what());
    }
    if (!header.is_object()) fail("expected a JSON object as header");
    return header;
  }

  void read_metadata(const Json& value) {
    if (!value.is_object()) fail("expected an object as __metadata__");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail("expected a string as metadata '", key, "'");
      header_.metadata.emplace(key, text.get<std::string>());
    }
  }

  ScalarType dtype_of_json(const std::string& name, const Json& value) const {
    const auto found = value.find("dtype");
    if (found == value.end() || !found->is_string()) fail("tensor '", name, "': expected a dtype");
    for (const DtypeName& row : kDtypes) {
      if (*found == row.name) return row.dtype;
    }
    fail("tensor '", name, "': dtype ", found->get<std::string>(), " is not supported");
  }

  std::vector<uint64_t> numbers(const std::string& name, const Json& value, const char* field) const {
    const auto found = value.find(field);
    if (found == value.end() || !found->is_array()) fail("tensor '", name, "': expected a list as ", field);
    std::vector<uint64_t> result;
    for (const Json& item : *found) {
      if (!item.is_number_unsigned()) fail("tensor '", name, "': expected whole numbers as ", field);
      result.push_back(item.get<uint64_t>());
    }
    return result;
  }

  void read_tensor(const std::string& name, const Json& value) {
    if (!value.is_object()) fail("tensor '", name, "': expected an object");
    const ScalarType dtype = dtype_of_json(name, value);
    const std::vector<uint64_t> shape = numbers(name, value, "shape");
    const std::vector<uint64_t> offsets = numbers(name, value, "data_offsets");
    if (shape.size() > kMaxDims) fail("tensor '", name, "': expected at most 64 dimensions, got ", shape.size());
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > source_.size - data_start_) {
      fail("tensor '", name, "': expected data_offsets within the ", source_.size - data_start_, " bytes of data");
    }
    const uint64_t held = offsets[1] - offsets[0];
    if (byte_count(name, dtype, shape) != held) {
      fail("tensor '", name, "': expected ", byte_count(name, dtype, shape), " bytes for its shape and dtype, got ",
           held);
    }
    header_.tensors.push_back({name, dtype, {shape.begin(), shape.end()}, data_start_ + offsets[0], held});
  }

  uint64_t byte_count(const std::string& name, ScalarType dtype, const std::vector<uint64_t>& shape) const {
    // Strides skip sizes of zero: they must not overflow either.
    int64_t bytes = static_cast<int64_t>(element_size(dtype));
    bool empty = false;
    for (uint64_t size : shape) {
      empty = empty || size == 0;
      const auto factor = static_cast<int64_t>(std::max<uint64_t>(size, 1));
      if (size > INT64_MAX || __builtin_mul_overflow(bytes, factor, &bytes)) {
        fail("tensor '", name, "' is too large");
      }
    }
    return empty ? 0 : static_cast<uint64_t>(bytes);
  }

  // JSON has no order; the data has.
  void sort_by_place() {
    std::stable_sort(header_.tensors.begin(), header_.tensors.end(), [](const auto& left, const auto& right) {
      return std::pair(left.offset, left.bytes) < std::pair(right.offset, right.bytes);
    });
  }

  // The format allows neither holes nor overlaps: they could hide other content.
  void check_coverage() const {
    uint64_t end = data_start_;
    for (const SafetensorsEntry& entry : header_.tensors) {
      if (entry.offset != end) fail("its tensors overlap or leave a hole at byte ", end - data_start_, " of the data");
      end += entry.bytes;
    }
    if (end != source_.size && !unfinished_) fail("it has bytes after its last tensor");
  }

  const Source& source_;
  bool unfinished_;
  SafetensorsHeader header_;
  uint64_t data_start_ = 0;
};

Tensor load_entry(const Source& source, const SafetensorsEntry& entry) {
  Tensor tensor = hb::empty(entry.shape, TensorOptions(entry.dtype).device(kCPU));
  if (entry.bytes > 0) source.read(tensor.data_ptr(), entry.offset, entry.bytes);
  return tensor;
}

SafetensorsFile load_all(const Source& source) {
  SafetensorsHeader header = Parser(source).run();
  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (SafetensorsEntry& entry : header.tensors) {
    Tensor tensor = load_entry(source, entry);
    file.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return file;
}

const char* safetensors_dtype(ScalarType dtype) {
  for (const DtypeName& row : kDtypes) {
    if (row.dtype == dtype) return row.name;
  }
  io_fail("save_safetensors", "dtype ", dtype, " is not supported");
}

// Large elements first: readers that map the file then find every element aligned.
NamedTensors by_alignment(NamedTensors tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) io_fail("save_safetensors", "expected a defined tensor for '", name, "'");
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& left, const auto& right) {
    return left.second.element_size() > right.second.element_size();
  });
  return tensors;
}

std::string header_text(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name == "__metadata__" || header.contains(name)) {
      io_fail("save_safetensors", "expected each name once, got '", name, "' again");
    }
    const IntArrayRef sizes = tensor.sizes();
    const uint64_t end = offset + tensor.nbytes();
    header[name] = {{"dtype", safetensors_dtype(tensor.scalar_type())},
                    {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  try {
    return header.dump();
  } catch (const Json::exception&) {
    io_fail("save_safetensors", "expected names and metadata in UTF-8");
  }
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const NamedTensors ordered = by_alignment(tensors);
  std::string header = header_text(ordered, metadata);
  while (header.size() % kAlignment != 0) header += ' ';
  AtomicFile file(path);
  unsigned char length[kLengthBytes];
  for (size_t i = 0; i < kLengthBytes; ++i) length[i] = static_cast<unsigned char>(header.size() >> (8 * i));
  file.write(length, kLengthBytes);
  file.write(header.data(), header.size());
  for (const auto& [name, tensor] : ordered) {
    const Tensor plain = tensor.detach().cpu().contiguous();
    file.write(plain.data_ptr(), plain.nbytes());
  }
  file.commit();
}

SafetensorsFile load_safetensors(const std::string& path) { return load_all(open_source(path)); }

SafetensorsHeader read_safetensors_header(const std::string& path, bool unfinished) {
  const Source source = open_source(path);
  return Parser(source, unfinished).run();
}

SafetensorsFile parse_safetensors(const void* data, size_t size, const std::string& label) {
  const Source source{label, size, [data](void* target, uint64_t offset, size_t count) {
                        std::memcpy(target, static_cast<const char*>(data) + offset, count);
                      }};
  return load_all(source);
}

}  // namespace hb::io

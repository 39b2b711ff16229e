#include <halfbridge/bridge/from_file.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

namespace hb::bridge {
inline namespace api {

namespace {
class OpenFile {
 public:
  OpenFile(const std::string& name, bool shared)
      : name_(name),
        descriptor_(shared ? open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)
                           : open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    HB_CHECK(descriptor_ >= 0, "[from_file] unable to open file <", name_, ">: ", std::strerror(errno));
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(descriptor_); }

  void require(int64_t bytes, bool shared) const {
    struct stat status {};
    HB_CHECK(fstat(descriptor_, &status) == 0, "[from_file] unable to stat file <", name_, ">: ", std::strerror(errno));
    if (status.st_size >= bytes) return;
    HB_CHECK(shared, "[from_file] file <", name_, "> has ", int64_t{status.st_size}, " bytes, expected ", bytes);
    HB_CHECK(ftruncate(descriptor_, bytes) == 0, "[from_file] unable to resize file <", name_, "> to ", bytes,
             " bytes: ", std::strerror(errno));
  }
  void* map(int64_t bytes, bool shared) const {
    void* const memory =
        mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, descriptor_, 0);
    HB_CHECK(memory != MAP_FAILED, "[from_file] unable to mmap ", bytes, " bytes from file <", name_,
             ">: ", std::strerror(errno));
    return memory;
  }

 private:
  std::string name_;
  int descriptor_;
};
}  // namespace

Tensor from_file(std::string_view filename, std::optional<bool> shared, std::optional<int64_t> size,
                 TensorOptions options) {
  const int64_t n = size.value_or(0);
  HB_CHECK(n >= 0, "[from_file] expected a size of at least 0, got ", n);
  HB_CHECK(options.device().is_cpu(), "[from_file] expected the CPU, got ", options.device());
  const bool writes = shared.value_or(false);
  const OpenFile file(std::string(filename), writes);
  int64_t bytes = 0;
  HB_CHECK(!__builtin_mul_overflow(n, int64_t(element_size(typeMetaToScalarType(options.dtype()))), &bytes),
           "[from_file] a tensor of ", n, " elements is larger than memory can be");
  if (bytes == 0) return hb::empty({n}, options);
  file.require(bytes, writes);
  // Unmapped with its last owner: the tensor's storage, or nobody where from_blob refuses the options.
  const std::shared_ptr<void> memory(file.map(bytes, writes), [bytes](void* mapped) { munmap(mapped, size_t(bytes)); });
  return hb::from_blob(
      memory.get(), {n}, [memory](void*) {}, options);
}

}  // namespace api
}  // namespace hb::bridge

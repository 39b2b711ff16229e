// Memory that forked processes share.
#include <cstring>
#include <memory>

#include <sys/mman.h>

#include <halfbridge/tensor.h>

namespace hb {

namespace {
struct Mapping {
  explicit Mapping(size_t bytes) : bytes(bytes) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    HB_CHECK(memory != MAP_FAILED, "[share_memory_] no shared memory of ", bytes, " bytes to be had");
  }
  ~Mapping() { munmap(memory, bytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void* memory;
  size_t bytes;
};
void unmap(void* mapping) { delete static_cast<Mapping*>(mapping); }
}  // namespace

void Tensor::share_memory_() const {
  HB_CHECK(is_cpu() && layout() == kStrided, "[share_memory_] expected a strided tensor of the CPU's, got one on ",
           device(), " of layout ", layout());
  StorageImpl& storage = *impl().storage();
  if (storage.nbytes() == 0) return;
  auto mapping = std::make_unique<Mapping>(storage.nbytes());
  std::memcpy(mapping->memory, storage.data(), storage.nbytes());
  void* const memory = mapping->memory;
  storage.set_data_ptr_noswap(DataPtr(memory, mapping.release(), unmap, kCPU));
}

}  // namespace hb

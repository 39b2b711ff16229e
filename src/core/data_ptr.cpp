#include <halfbridge/data_ptr.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace hb {

Allocator::~Allocator() = default;

DataPtr Allocator::clone(const void* data, size_t bytes) {
  DataPtr copy = allocate(bytes);
  copy_data(copy.mutable_get(), data, bytes);
  return copy;
}

void* Allocator::raw_allocate(size_t bytes) {
  HB_CHECK(raw_deleter(), "[raw_allocate] expected an allocator with a raw_deleter");
  DataPtr data = allocate(bytes);
  HB_CHECK(data.get() == data.get_context(), "[raw_allocate] expected memory whose context is its address");
  return data.release_context();
}

void Allocator::raw_deallocate(void* data) {
  const DeleterFnPtr deleter = raw_deleter();
  HB_CHECK(deleter, "[raw_deallocate] expected an allocator with a raw_deleter");
  deleter(data);
}

void Allocator::default_copy_data(void* to, const void* from, size_t bytes) const {
  if (bytes) std::memcpy(to, from, bytes);
}

namespace {
constexpr size_t kAlignment = 64;

class CpuAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &std::free, kCPU};
    void* memory = nullptr;
    if (bytes < (size_t{1} << 47))
      memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) & ~(kAlignment - 1));
    HB_CHECK(memory, "[allocate] not enough memory: you tried to allocate ", bytes, " bytes");
    return {memory, memory, &std::free, kCPU};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
  DeleterFnPtr raw_deleter() const override { return &std::free; }
};
}  // namespace

Allocator* GetCPUAllocator() {
  static auto* allocator = new CpuAllocator();  // memory may be given back after the end of main
  return allocator;
}

Allocator* GetAllocator(const DeviceType& type) {
  if (type != kCPU) HB_NOT_SUPPORTED("[GetAllocator] expected the CPU, got ", type, ": this build has no memory there");
  return GetCPUAllocator();
}

}  // namespace hb

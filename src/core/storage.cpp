#include <halfbridge/storage.h>

#include <new>

#include <halfbridge/error.h>

#include "core/allocator.h"
#include "core/calling_function.h"
#include "core/device_backend.h"
#include "core/recorder.h"
#include "core/sparse_parts.h"
#include "core/storage_data.h"

namespace hb {

namespace {
[[gnu::noinline]] DeviceBackend::Block allocate_on(const Device& device, size_t nbytes) {
  if (nbytes == 0) return {nullptr, 0};
  return device_backend("empty", device).allocate(nbytes, device.index());
}
}  // namespace

intrusive_ptr<StorageImpl> StorageImpl::allocate(size_t nbytes, Device device) {
  if (HB_UNLIKELY(!device.is_cpu())) {
    const Device at = indexed_device("empty", device);
    const DeviceBackend::Block block = allocate_on(at, nbytes);
    return intrusive_ptr<StorageImpl>(new StorageImpl(block.memory, nbytes, at, block.bytes, false));
  }
  if (HB_UNLIKELY(nbytes >= size_t{1} << 47)) detail::fail_out_of_memory(nbytes);
  const detail::Block block = detail::allocate_block(nbytes + kStorageHeader);
  if (HB_UNLIKELY(!block.memory)) detail::fail_out_of_memory(nbytes);
  char* data = static_cast<char*>(block.memory) + kStorageHeader;
  intrusive_ptr<StorageImpl> s(new (block.memory) StorageImpl(data, nbytes, kCPU, block.bytes, false));
  if (HB_UNLIKELY(capture::any_recording()))
    if (capture::Recorder* r = capture::recorder()) r->allocated(*s);
  return s;
}

intrusive_ptr<StorageImpl> StorageImpl::borrow(void* data, size_t nbytes, Device device, Deleter deleter) {
  if (HB_UNLIKELY(capture::any_recording()))
    capture::tell_refusal("from_blob", "takes values from memory of the program; make the tensor before the step");
  intrusive_ptr<StorageImpl> s(new StorageImpl(data, nbytes, indexed_device("from_blob", device), 0, true));
  if (deleter) s->deleter_ = new Deleter(std::move(deleter));
  return s;
}

intrusive_ptr<StorageImpl> StorageImpl::of_sparse(std::unique_ptr<SparseParts> parts, Device device) {
  auto s = borrow(parts.get(), 0, device, [](void* p) { delete static_cast<SparseParts*>(p); });
  s->layout_ = parts.release()->layout;
  return s;
}

void StorageImpl::fail_sparse() const {
  HB_NOT_SUPPORTED("[", detail::calling_function(), "] expected a strided tensor, got one of layout ", layout_,
                   ", which has no strides and no memory of its own: this function has no sparse form, call to_dense() "
                   "first");
}

StorageImpl::~StorageImpl() {
  if (deleter_) {
    (*deleter_)(data_);
    delete deleter_;
  }
}

void StorageImpl::destroy() const {
  if (HB_UNLIKELY(capture::any_recording())) capture::tell_freed(*this);
  if (HB_UNLIKELY(in_block_)) {
    // This object lies in the block that its deleter owns.
    const std::unique_ptr<Deleter> deleter(std::exchange(const_cast<StorageImpl*>(this)->deleter_, nullptr));
    void* const data = data_;
    this->~StorageImpl();
    (*deleter)(data);
    return;
  }
  if (borrowed_) {
    delete this;
    return;
  }
  if (HB_UNLIKELY(!device_.is_cpu())) {
    if (data_) find_device_backend(device_.type())->free({data_, block_bytes_}, device_.index());
    delete this;
    return;
  }
  const size_t bytes = block_bytes_;
  void* block = const_cast<StorageImpl*>(this);
  this->~StorageImpl();
  detail::free_block({block, bytes});
}

Storage::Storage(use_byte_size_t, size_t nbytes, Allocator* allocator, bool resizable) {
  if (allocator) {
    *this = Storage(use_byte_size_t(), nbytes, allocator->allocate(nbytes), allocator, resizable);
  } else {
    impl_ = StorageImpl::allocate(nbytes, kCPU);
  }
}

Storage::Storage(use_byte_size_t, size_t nbytes, DataPtr data, Allocator* /*allocator*/, bool /*resizable*/)
    : impl_(StorageImpl::of_data_ptr(std::move(data), nbytes)) {}
void Storage::check_unique() const {
  HB_CHECK(impl_.unique(), "UniqueStorageShareExternalPointer can only be called when use_count == 1");
}

}  // namespace hb

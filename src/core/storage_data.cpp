// Memory of a storage that the program replaces.
#include <algorithm>
#include <utility>

#include <halfbridge/error.h>
#include <halfbridge/storage.h>

#include "core/allocator.h"
#include "core/device_backend.h"
#include "core/recorder.h"
#include "core/sparse_parts.h"
#include "core/storage_data.h"

namespace hb {

StorageImpl::Block::~Block() {
  if (device.is_cpu())
    detail::free_block({memory, bytes});
  else if (memory)
    find_device_backend(device.type())->free({memory, bytes}, device.index());
}

intrusive_ptr<StorageImpl> StorageImpl::of_data_ptr(DataPtr&& data, size_t nbytes) {
  void* const address = data.get();
  const Device device = data.device();
  return borrow(address, nbytes, device, Foreign{std::make_shared<DataPtr>(std::move(data)), nullptr});
}

/// What holds the memory until now; the storage is left without any.
DataPtr StorageImpl::take_data() {
  void* const address = std::exchange(data_, nullptr);
  if (borrowed_) {
    if (!deleter_) return {address, device_};
    if (auto* foreign = deleter_->target<Foreign>()) return std::move(*foreign->data);
    // The address and what frees it, from a function of any type.
    auto* context = new std::pair<Deleter, void*>(std::move(*deleter_), address);
    delete std::exchange(deleter_, nullptr);
    return {address, context,
            [](void* p) {
              auto* made = static_cast<std::pair<Deleter, void*>*>(p);
              made->first(made->second);
              delete made;
            },
            device_};
  }
  // Our own block. On the CPU this header lies in it, so that it lives as long as either.
  in_block_ = device_.is_cpu();
  auto block = std::make_shared<Block>();
  block->memory = in_block_ ? static_cast<void*>(this) : address;
  block->bytes = std::exchange(block_bytes_, 0);
  block->device = device_;
  deleter_ = new Deleter(Foreign{std::make_shared<DataPtr>(), in_block_ ? block : nullptr});
  borrowed_ = true;
  return {address, new std::shared_ptr<Block>(block), [](void* p) { delete static_cast<std::shared_ptr<Block>*>(p); },
          device_};
}

void StorageImpl::note_shown_address() {
  capture::tell_shown(*this);
  address_shown_.store(true, std::memory_order_relaxed);
}

DataPtr StorageImpl::set_data_ptr(DataPtr&& data) {
  HB_CHECK(layout_ == kStrided, "[set_data_ptr] a sparse tensor has no memory of its own");
  HB_CHECK(data.device().type() == device_.type(), "[set_data_ptr] expected memory on ", device_, ", got ",
           data.device());
  if (HB_UNLIKELY(capture::any_recording())) {
    capture::tell_refusal("set_data_ptr", "replaces memory; do so outside of the step");
    capture::tell_freed(*this);
  }
  DataPtr before = take_data();
  data_ = data.get();
  borrowed_ = true;
  Foreign* foreign = deleter_ ? deleter_->target<Foreign>() : nullptr;
  if (foreign)
    *foreign->data = std::move(data);
  else
    deleter_ = new Deleter(Foreign{std::make_shared<DataPtr>(std::move(data)), nullptr});
  show_address();
  return before;
}

void StorageImpl::set_nbytes(size_t nbytes) {
  const size_t room = borrowed_ ? nbytes : block_bytes_ - (device_.is_cpu() ? kStorageHeader : 0);
  HB_CHECK(nbytes <= std::max(room, nbytes_), "[set_nbytes] the storage has ", nbytes_, " bytes; give it memory for ",
           nbytes, " by set_data_ptr first");
  nbytes_ = nbytes;
}

void StorageImpl::UniqueStorageShareExternalPointer(DataPtr&& data, size_t nbytes) {
  set_data_ptr(std::move(data));
  set_nbytes(nbytes);
}

void StorageImpl::reset() {
  set_data_ptr(DataPtr(nullptr, device_));
  set_nbytes(0);
}

}  // namespace hb

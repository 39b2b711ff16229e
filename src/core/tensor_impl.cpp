#include <halfbridge/tensor_impl.h>

#include <mutex>

#include <halfbridge/grad_mode.h>
#include <halfbridge/tensor.h>

#include "backend/elementwise.h"
#include "core/autograd_seam.h"
#include "core/geometry.h"
#include "core/mutex_table.h"
#include "core/pending.h"
#include "core/recorder.h"

namespace hb {

namespace {
// Threads that share a tensor, a weight say, may all be the first to make a view of it or to look at its memory.
constinit MutexTable<> mutexes;
}  // namespace

TensorImpl::TensorImpl(intrusive_ptr<StorageImpl> storage, ScalarType dtype, DimVector sizes, DimVector strides,
                       int64_t offset)
    : storage_(std::move(storage)),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      dtype_(dtype),
      device_(storage_->device()),
      layout_(storage_->layout()) {
  inference_ = InferenceMode::is_enabled();
  refresh();
  if (HB_UNLIKELY(capture::any_recording()))
    if (capture::Recorder* r = capture::recorder()) r->made(*this);
}

TensorImpl::~TensorImpl() {
  if (HB_UNLIKELY(capture::any_recording())) capture::tell_gone(*this);
}

void TensorImpl::refresh() {
  numel_ = 1;
  for (int64_t s : sizes_) numel_ *= s;
  contiguous_ = geometry::is_contiguous(sizes_, strides_);
}

void TensorImpl::set_geometry(DimVector sizes, DimVector strides, int64_t offset) {
  settle();
  sizes_ = std::move(sizes), strides_ = std::move(strides), offset_ = offset;
  refresh();
}

void TensorImpl::set_storage(intrusive_ptr<StorageImpl> storage, ScalarType dtype) {
  storage_ = std::move(storage), dtype_ = dtype;
  device_ = storage_->device(), layout_ = storage_->layout();
}

void TensorImpl::share_data_of(const TensorImpl& o) {
  if (HB_UNLIKELY(o.is_deferred() && &o != this)) {
    // Whether `o` is settled meanwhile or not, this gets one state of it.
    const std::lock_guard lock(mutexes.of(o));
    take_data_of(o);
  } else {
    take_data_of(o);
  }
}

void TensorImpl::take_data_of(const TensorImpl& o) {
  set_storage(o.storage_, o.dtype_);
  sizes_ = o.sizes_, strides_ = o.strides_, offset_ = o.offset_;
  deferred_.store(o.is_deferred(), std::memory_order_release);
  refresh();
}

intrusive_ptr<TensorImpl> TensorImpl::snapshot() const {
  std::unique_lock<std::mutex> lock;
  if (HB_UNLIKELY(is_deferred())) lock = std::unique_lock(mutexes.of(*this));
  auto copy = make_intrusive<TensorImpl>(storage_, dtype_, sizes_, strides_, offset_);
  // What is deferred and contiguous only waited for its values.
  copy->deferred_.store(is_deferred() && (!is_strided() || !copy->contiguous_), std::memory_order_relaxed);
  if (lock) lock.unlock();
  if (pending::any()) pending::run(*copy->storage_);
  return copy;
}

intrusive_ptr<TensorImpl> TensorImpl::alias(bool share_version) {
  auto copy = snapshot();
  copy->wrapped_number_ = wrapped_number_;
  copy->inference_ = inference_;
  if (share_version) copy->set_shared_version(shared_version());
  return copy;
}

intrusive_ptr<VersionCounter> TensorImpl::shared_version() {
  const std::lock_guard lock(mutexes.of(*this));
  if (!version_owner_) {
    version_owner_ = make_intrusive<VersionCounter>(own_version_, own_overlooked_);
    shared_version_.store(version_owner_.get(), std::memory_order_release);
  }
  return version_owner_;
}

void TensorImpl::part_version() {
  set_shared_version(make_intrusive<VersionCounter>(version(), version() - seen_version()));
}

void TensorImpl::set_shared_version(intrusive_ptr<VersionCounter> v) {
  version_owner_ = std::move(v);
  shared_version_.store(version_owner_.get(), std::memory_order_release);
}

// Readers of one tensor on several threads may all be the first to look, and others may be reading the deferred memory:
// they hold it by a snapshot. No lock is held while the kernel runs, which may wait for work of another thread that
// reads such a tensor (pending.h); where two threads settle, the first to end counts.
void TensorImpl::settle_slow() {
  const intrusive_ptr<TensorImpl> lying = snapshot();  // whose values are there
  (void)lying->storage_->data();                       // throws where the tensor is sparse
  if (!lying->is_deferred()) {                         // it only waited for them, or another thread has settled it
    const std::lock_guard lock(mutexes.of(*this));
    return deferred_.store(false, std::memory_order_release);
  }
  lying->deferred_.store(false, std::memory_order_relaxed);
  Tensor physical(lying);
  DimVector strides = geometry::contiguous_strides(sizes_);
  auto settled =
      make_intrusive<TensorImpl>(StorageImpl::allocate(numel_ * itemsize(), device()), dtype_, sizes_, strides, 0);
  Tensor out(settled);
  copy_kernel(device())(Loop({&out}, {&physical}));
  const std::lock_guard lock(mutexes.of(*this));
  if (!is_deferred() || storage_ != lying->storage_) return;
  storage_ = settled->storage_, strides_ = std::move(strides), offset_ = 0, contiguous_ = true;
  deferred_.store(false, std::memory_order_release);
}

TensorImpl::OwnedMeta::~OwnedMeta() {
  // `meta` stays: until it has emptied the slot, a backward pass of another thread may reach what it holds through
  // here.
  if (meta) detail::autograd_seam.destroy(meta);
}

}  // namespace hb

#include <halfbridge/tensor_impl.h>

#include <array>
#include <mutex>

#include <halfbridge/autograd.h>
#include <halfbridge/grad_mode.h>

#include "core/geometry.h"
#include "kernels/elementwise.h"

namespace hb {

TensorImpl::TensorImpl(intrusive_ptr<StorageImpl> storage, ScalarType dtype, DimVector sizes, DimVector strides,
                       int64_t offset)
    : storage_(std::move(storage)),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      dtype_(dtype) {
  inference_ = InferenceMode::is_enabled();
  refresh();
}

TensorImpl::~TensorImpl() = default;

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
}

void TensorImpl::share_data_of(const TensorImpl& o) {
  storage_ = o.storage_, dtype_ = o.dtype_, sizes_ = o.sizes_, strides_ = o.strides_, offset_ = o.offset_;
  deferred_ = o.deferred_;
  refresh();
}

intrusive_ptr<TensorImpl> TensorImpl::alias(bool share_version) {
  auto copy = make_intrusive<TensorImpl>(storage_, dtype_, sizes_, strides_, offset_);
  copy->deferred_ = deferred_;
  copy->wrapped_number_ = wrapped_number_;
  copy->inference_ = inference_;
  if (share_version) copy->shared_version_ = shared_version();
  return copy;
}

// Threads that share a tensor, a weight say, may all be the first to make a view of it; one lock for all tensors would
// have threads wait for each other that share none.
const intrusive_ptr<VersionCounter>& TensorImpl::shared_version() {
  static std::array<std::mutex, 64> mutexes;
  const std::lock_guard lock(mutexes[reinterpret_cast<uintptr_t>(this) / sizeof(TensorImpl) % mutexes.size()]);
  if (!shared_version_) shared_version_ = make_intrusive<VersionCounter>(own_version_);
  return shared_version_;
}

// Readers of one tensor on several threads may all be the first to look.
void TensorImpl::settle_slow() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!deferred_) return;
  (void)storage_->data();  // throws where the tensor is sparse
  Tensor physical(make_intrusive<TensorImpl>(storage_, dtype_, sizes_, strides_, offset_));
  DimVector strides = geometry::contiguous_strides(sizes_);
  auto settled =
      make_intrusive<TensorImpl>(StorageImpl::allocate(numel_ * itemsize(), device()), dtype_, sizes_, strides, 0);
  Tensor out(settled);
  copy_kernel(device())(Loop({&out}, {&physical}));
  storage_ = settled->storage_, strides_ = std::move(strides), offset_ = 0, contiguous_ = true, deferred_ = false;
}

AutogradMeta& TensorImpl::materialize_autograd_meta() {
  if (!autograd_) autograd_.reset(new AutogradMeta);
  return *autograd_;
}
void TensorImpl::drop_autograd_meta() { autograd_.reset(); }
void TensorImpl::MetaDeleter::operator()(AutogradMeta* m) const { delete m; }

}  // namespace hb

#pragma once

#include <memory>

#include <halfbridge/device.h>
#include <halfbridge/dim_vector.h>
#include <halfbridge/dtype.h>
#include <halfbridge/storage.h>

namespace hb {

struct AutogradMeta;

/// Counts in-place changes; tensors that share memory share it.
struct VersionCounter final : intrusive_ptr_target {
  explicit VersionCounter(uint32_t v) : version(v) {}
  std::atomic<uint32_t> version;
};

/// The record behind a Tensor handle.
///
/// A convolution may leave its result channels-last while the program's layout is contiguous NCHW. Such a tensor is
/// *deferred*: its physical strides are channels-last, no alias of it is visible, and settle() rewrites it contiguous
/// as soon as the program looks at strides or memory. The engine reads physical_strides() and raw_data() instead.
///
/// A sparse tensor is deferred for good: it has no strides and no memory, and settle() throws.
class HB_API TensorImpl final : public intrusive_ptr_target {
 public:
  TensorImpl(intrusive_ptr<StorageImpl> storage, ScalarType dtype, DimVector sizes, DimVector strides, int64_t offset);
  ~TensorImpl() override;

  const DimVector& sizes() const { return sizes_; }
  const DimVector& strides() {
    settle();
    return strides_;
  }
  int64_t numel() const { return numel_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  ScalarType dtype() const { return dtype_; }
  size_t itemsize() const { return element_size(dtype_); }
  const Device& device() const { return storage_->device(); }
  int64_t offset() {
    settle();
    return offset_;
  }
  const intrusive_ptr<StorageImpl>& storage() {
    settle();
    return storage_;
  }
  /// First element in the layout that the program sees.
  void* data() {
    settle();
    return raw_data();
  }
  bool is_contiguous() const { return contiguous_ || deferred_; }

  // Physical layout, for the engine alone.
  const DimVector& physical_strides() const { return strides_; }
  const intrusive_ptr<StorageImpl>& physical_storage() const { return storage_; }
  int64_t physical_offset() const { return offset_; }
  bool physically_contiguous() const { return contiguous_; }
  void* raw_data() const { return static_cast<char*>(storage_->data()) + offset_ * itemsize(); }
  bool is_deferred() const { return deferred_; }
  bool is_sparse() const { return HB_UNLIKELY(deferred_) && storage_->is_sparse(); }
  /// Declares that the program believes this channels-last tensor to be contiguous.
  void set_deferred() { deferred_ = true; }
  void settle() {
    if (HB_UNLIKELY(deferred_)) settle_slow();
  }

  /// Replaces geometry (the caller checked it) or memory.
  void set_geometry(DimVector sizes, DimVector strides, int64_t offset);
  void set_storage(intrusive_ptr<StorageImpl> storage, ScalarType dtype);
  /// Takes over memory, dtype and geometry of `o`, as `set_data` does.
  void share_data_of(const TensorImpl& o);
  /// A second record of the same memory; shares the version counter if asked.
  intrusive_ptr<TensorImpl> alias(bool share_version);

  uint32_t version() const { return shared_version_ ? shared_version_->version.load() : own_version_; }
  void bump_version() {
    if (shared_version_) {
      ++shared_version_->version;
    } else {
      ++own_version_;
    }
  }
  const intrusive_ptr<VersionCounter>& shared_version();
  void set_shared_version(intrusive_ptr<VersionCounter> v) { shared_version_ = std::move(v); }

  /// A 0-d tensor made from a Scalar: does not take part in type promotion within its kind.
  bool is_wrapped_number() const { return wrapped_number_; }
  void set_wrapped_number(bool w) { wrapped_number_ = w; }
  bool is_inference() const { return inference_; }
  void set_inference(bool i) { inference_ = i; }

  AutogradMeta* autograd_meta() const { return autograd_.get(); }
  AutogradMeta& materialize_autograd_meta();
  void drop_autograd_meta();

 private:
  void refresh();
  void settle_slow();

  intrusive_ptr<StorageImpl> storage_;
  DimVector sizes_, strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  ScalarType dtype_;
  bool contiguous_ = false, deferred_ = false, wrapped_number_ = false, inference_ = false;
  uint32_t own_version_ = 0;
  intrusive_ptr<VersionCounter> shared_version_;
  struct MetaDeleter {
    void operator()(AutogradMeta* m) const;
  };
  std::unique_ptr<AutogradMeta, MetaDeleter> autograd_;
};

}  // namespace hb

#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <halfbridge/array_ref.h>
#include <halfbridge/device.h>
#include <halfbridge/dim_vector.h>
#include <halfbridge/dtype.h>
#include <halfbridge/storage.h>

namespace hb {

struct AutogradMeta;
class DispatchKeySet;
class Tensor;

/// Counts in-place writes; tensors that share memory share it. Autograd and programs do not see those that are
/// overlooked.
struct VersionCounter final : intrusive_ptr_target {
  VersionCounter(uint32_t v, uint32_t o) : version(v), overlooked(o) {}
  std::atomic<uint32_t> version, overlooked;
};

/// The record behind a Tensor handle.
///
/// A convolution may leave its result channels-last while the program's layout is contiguous NCHW. Such a tensor is
/// *deferred*: its physical strides are channels-last, no alias of it is visible, and settle() rewrites it contiguous
/// as soon as the program looks at strides or memory. The engine reads physical_strides() and raw_data() instead, of
/// inputs through Physical (src/core/physical.h): another thread may settle a tensor while this one reads it.
///
/// A tensor of a sparse layout is deferred for good: it has no strides and no memory, and settle() throws.
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
  const Device& device() const { return device_; }
  int64_t offset() {
    settle();
    return offset_;
  }
  const intrusive_ptr<StorageImpl>& storage() {
    settle();
    return storage_;
  }
  /// First element in the layout that the program sees, null where there are none. For the program: from here on it may
  /// hold the address, and in-place functions write to it.
  void* data() {
    settle();
    storage_->show_address();
    return HB_UNLIKELY(numel_ == 0) ? nullptr : raw_data();
  }
  /// The same, but for an empty part of memory its place there.
  void* typed_data() {
    settle();
    storage_->show_address();
    return HB_UNLIKELY(numel_ == 0) && !storage_->mutable_data() ? nullptr : raw_data();
  }
  /// The same for the engine, which does not keep it.
  void* visible_data() {
    settle();
    return raw_data();
  }
  bool is_contiguous() const { return is_deferred() || contiguous_; }

  // Physical layout, for the engine alone.
  const DimVector& physical_strides() const { return strides_; }
  const intrusive_ptr<StorageImpl>& physical_storage() const { return storage_; }
  int64_t physical_offset() const { return offset_; }
  bool physically_contiguous() const { return !is_deferred() && contiguous_; }
  void* raw_data() const { return static_cast<char*>(storage_->data()) + offset_ * itemsize(); }
  bool is_deferred() const { return HB_UNLIKELY(deferred_.load(std::memory_order_acquire)); }
  bool is_sparse() const { return HB_UNLIKELY(layout_ == kSparse); }
  bool is_sparse_csr() const { return HB_UNLIKELY(layout_ == kSparseCsr); }
  bool is_strided() const { return HB_LIKELY(layout_ == kStrided); }
  /// Declares that the program believes this channels-last tensor to be contiguous.
  void set_deferred() { deferred_.store(true, std::memory_order_relaxed); }
  void settle() {
    if (HB_UNLIKELY(is_deferred())) settle_slow();
  }
  /// A second record of this memory as it lies now, deferred or settled, which no other thread changes. Without
  /// history.
  intrusive_ptr<TensorImpl> snapshot() const;

  /// Replaces geometry (the caller checked it) or memory.
  void set_geometry(DimVector sizes, DimVector strides, int64_t offset);
  void set_storage(intrusive_ptr<StorageImpl> storage, ScalarType dtype);
  /// Takes over memory, dtype and geometry of `o`, as `set_data` does.
  void share_data_of(const TensorImpl& o);
  /// A second record of the same memory; shares the version counter if asked.
  intrusive_ptr<TensorImpl> alias(bool share_version);

  /// Counts all in-place writes: for what keeps values of tensors.
  uint32_t version() const {
    const VersionCounter* shared = shared_version_.load(std::memory_order_acquire);
    return shared ? shared->version.load() : own_version_;
  }
  /// The version that autograd and programs see, which leaves out overlooked writes: those that LibTorch makes through
  /// tensor.data().
  uint32_t seen_version() const {
    const VersionCounter* shared = shared_version_.load(std::memory_order_acquire);
    return shared ? shared->version.load() - shared->overlooked.load() : own_version_ - own_overlooked_;
  }
  void bump_version(bool overlooked = false) {
    if (VersionCounter* shared = shared_version_.load(std::memory_order_acquire)) {
      ++shared->version;
    } else {
      ++own_version_;
    }
    if (HB_UNLIKELY(overlooked)) overlook_writes(1);
  }
  /// Of the writes so far, `count` more are overlooked.
  void overlook_writes(uint32_t count) {
    if (VersionCounter* shared = shared_version_.load(std::memory_order_acquire)) {
      shared->overlooked += count;
    } else {
      own_overlooked_ += count;
    }
  }
  intrusive_ptr<VersionCounter> shared_version();
  /// From here on this record counts for itself.
  void part_version();
  void set_shared_version(intrusive_ptr<VersionCounter> v);

  /// A 0-d tensor made from a Scalar: does not take part in type promotion within its kind.
  bool is_wrapped_number() const { return wrapped_number_; }
  void set_wrapped_number(bool w) { wrapped_number_ = w; }
  bool is_inference() const { return inference_; }
  void set_inference(bool i) { inference_ = i; }

  // What programs call that change or ask a record itself. As in LibTorch nobody checks that the memory is large enough
  // for the geometry.
  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, std::optional<int64_t> offset = std::nullopt);
  void set_size(int64_t dim, int64_t size);
  void set_stride(int64_t dim, int64_t stride);
  void set_storage_offset(int64_t offset);
  void set_storage_keep_dtype(const Storage& storage) { set_storage_and_dtype(storage, dtype_); }
  void set_storage_and_dtype(const Storage& storage, ScalarType dtype);
  void set_requires_grad(bool requires_grad);
  bool requires_grad() const;
  const Tensor& grad() const;
  Tensor& mutable_grad();
  DispatchKeySet key_set() const;
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim);
  int64_t storage_offset() { return offset(); }
  Storage unsafe_storage() { return Storage(storage()); }
  void* mutable_data() { return data(); }
  Layout layout() const { return layout_; }
  DeviceType device_type() const { return device_.type(); }
  DeviceIndex get_device() const { return device_.index(); }
  bool is_empty() const { return numel_ == 0; }
  bool has_storage() const { return is_strided(); }
  bool storage_initialized() const { return has_storage() && (storage_->data() != nullptr || numel_ == 0); }
  bool dtype_initialized() const { return true; }
  bool is_cpu() const { return device_.is_cpu(); }
  bool is_cuda() const { return device_.is_cuda(); }
  bool is_meta() const { return device_.is_meta(); }
  bool is_non_overlapping_and_dense() const;

  AutogradMeta* autograd_meta() const { return autograd_.meta; }
  AutogradMeta& materialize_autograd_meta();

 private:
  void refresh();
  void take_data_of(const TensorImpl& o);
  void settle_slow();

  intrusive_ptr<StorageImpl> storage_;
  DimVector sizes_, strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  ScalarType dtype_;
  Device device_;  // the storage's: settling replaces that
  Layout layout_;  // the storage's
  bool contiguous_ = false, wrapped_number_ = false, inference_ = false;
  std::atomic<bool> deferred_{false};  // false for good once it is false, but for share_data_of()
  uint32_t own_version_ = 0, own_overlooked_ = 0;
  intrusive_ptr<VersionCounter> version_owner_;
  std::atomic<VersionCounter*> shared_version_{nullptr};  // version_owner_'s, read without a lock
  struct OwnedMeta {
    OwnedMeta() = default;
    OwnedMeta(const OwnedMeta&) = delete;
    ~OwnedMeta();
    AutogradMeta* meta = nullptr;
  };
  OwnedMeta autograd_;
};

/// LibTorch's name for what undefined tensors point to. Here that is null.
struct UndefinedTensorImpl {
  static constexpr TensorImpl* singleton() { return nullptr; }
};

}  // namespace hb

#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/deprecated_type.h>
#include <halfbridge/generator.h>
#include <halfbridge/options.h>
#include <halfbridge/scalar.h>
#include <halfbridge/sym_int.h>
#include <halfbridge/tensor_accessor.h>
#include <halfbridge/tensor_impl.h>

namespace hb {

class DispatchKeySet;
class Stream;
class Tensor;
template <class T>
class MaybeOwned;
namespace autodiff {
class Node;
}
namespace bridge {
struct Dimname;
}
class TensorIndex;
using TensorList = ArrayRef<Tensor>;
using TensorVector = std::vector<Tensor>;
using TensorTuple2 = std::tuple<Tensor, Tensor>;
using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;

#define HB_TAIL(...) __VA_OPT__(, ) __VA_ARGS__

// The functions of the tables. A result of an incomplete type may be declared.
#define HB_OP(Result, name, params, args) HB_API Result name(const Tensor& self HB_TAIL params);
#define HB_OP_(name, params, args) HB_API Tensor& name(Tensor& self HB_TAIL params);
#define HB_METHOD(Result, name, params, args)
#define HB_METHOD_(name, params, args)
#include <halfbridge/ops/methods.def>
#define HB_UNARY(name)                    \
  HB_API Tensor name(const Tensor& self); \
  HB_API Tensor& name##_(Tensor& self);   \
  HB_API Tensor& name##_out(Tensor& out, const Tensor& self);
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name)                                        \
  HB_API Tensor name(const Tensor& self, const Tensor& other); \
  HB_API Tensor name(const Tensor& self, const Scalar& other); \
  HB_API Tensor& name##_(Tensor& self, const Tensor& other);   \
  HB_API Tensor& name##_(Tensor& self, const Scalar& other);   \
  HB_API Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other);
#include <halfbridge/ops/binary.def>
// Methods that are no functions in LibTorch either: out of reach of unqualified calls, which a program's own function
// of the name would make ambiguous.
namespace method {
#define HB_METHOD(Result, name, params, args) HB_API Result name(const Tensor& self HB_TAIL params);
#define HB_METHOD_(name, params, args) HB_API Tensor& name(Tensor& self HB_TAIL params);
#include <halfbridge/ops/methods.def>
}  // namespace method
HB_API Tensor index_items(const Tensor& self, ArrayRef<TensorIndex> indices);

/// A handle to an n-dimensional array of one dtype; copies share it. The methods are those of at::Tensor.
class HB_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  // --- what it is
  bool defined() const { return static_cast<bool>(impl_); }
  void reset() { impl_.reset(); }
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  const intrusive_ptr<TensorImpl>& getIntrusivePtr() const { return impl_; }
  /// Gives the handle away and leaves an undefined tensor; the second form, as a pointer that somebody must reclaim.
  intrusive_ptr<TensorImpl> unsafeReleaseIntrusivePtr() { return std::move(impl_); }
  TensorImpl* unsafeReleaseTensorImpl() { return impl_.release(); }
  static Tensor wrap_tensor_impl(intrusive_ptr<TensorImpl> impl) { return Tensor(std::move(impl)); }
  TensorImpl& impl() const {
    if (HB_UNLIKELY(!impl_)) fail_undefined();
    return *impl_;
  }
  bool is_uniquely_owned() const { return use_count() == 1; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  size_t use_count() const noexcept { return impl_.use_count(); }
  size_t weak_use_count() const noexcept { return impl_.weak_use_count(); }
  bool is_alias_of(const Tensor& other) const;
  // As LibTorch's, an undefined tensor has the sizes [0], an undefined dtype, no memory, and belongs to no device.
  int64_t dim() const { return HB_UNLIKELY(!impl_) ? 1 : impl_->dim(); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return HB_UNLIKELY(!impl_) ? 0 : impl_->numel(); }
  IntArrayRef sizes() const {
    return HB_UNLIKELY(!impl_) ? undefined_sizes() : IntArrayRef(impl_->sizes().data(), impl_->sizes().size());
  }
  IntArrayRef strides() const {
    const DimVector& strides = impl_or_fail("strides() called on an undefined Tensor").strides();
    return {strides.data(), strides.size()};
  }
  /// Sizes and strides of one dimension; negative dimensions count from the end.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const { return HB_UNLIKELY(!impl_) ? 0 : impl_->offset(); }
  // The same as programs ask for it that may be traced.
  SymIntArrayRef sym_sizes() const;
  SymIntArrayRef sym_strides() const;
  SymInt sym_size(int64_t dim) const;
  SymInt sym_stride(int64_t dim) const;
  SymInt sym_numel() const;
  SymInt sym_nbytes() const;
  SymInt sym_storage_offset() const;
  // const: programs bind `auto& s = t.storage()` to it.
  const Storage storage() const;  // NOLINT
  bool has_storage() const { return defined() && impl_->has_storage(); }
  ScalarType scalar_type() const { return HB_UNLIKELY(!impl_) ? ScalarType::Undefined : impl_->dtype(); }
  TypeMeta dtype() const { return scalar_type(); }
  Device device() const { return impl_or_fail("tensor does not have a device").device(); }
  DeviceIndex get_device() const { return device().index(); }
  /// kStrided for an undefined tensor.
  Layout layout() const { return HB_UNLIKELY(!impl_) ? kStrided : impl_->layout(); }
  /// dtype, device and layout; requires_grad is left out, as in LibTorch.
  TensorOptions options() const { return TensorOptions().dtype(scalar_type()).device(device()).layout(layout()); }
  int64_t element_size() const { return static_cast<int64_t>(impl().itemsize()); }
  size_t itemsize() const { return impl().itemsize(); }
  /// Throws for a sparse tensor, which has no elements of its own.
  size_t nbytes() const;
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_contiguous_or_false(MemoryFormat format = MemoryFormat::Contiguous) const { return is_contiguous(format); }
  MemoryFormat suggest_memory_format() const;
  /// Its backend and what applies to it: autograd, autocast (dispatch_key_set.h).
  DispatchKeySet key_set() const;
  bool is_floating_point() const { return defined() && is_floating_type(scalar_type()); }
  bool is_complex() const { return defined() && is_complex_type(scalar_type()); }
  bool is_signed() const { return hb::is_signed_type(impl().dtype()); }
  bool is_cpu() const { return defined() && device().is_cpu(); }
  bool is_cuda() const { return defined() && device().is_cuda(); }
  // Kinds of device that this build has no memory on.
  bool is_hip() const { return false; }
  bool is_ipu() const { return false; }
  bool is_lazy() const { return false; }
  bool is_maia() const { return false; }
  bool is_metal() const { return false; }
  bool is_privateuseone() const { return false; }
  bool is_ve() const { return false; }
  bool is_mps() const { return false; }
  bool is_meta() const { return defined() && device().is_meta(); }
  /// By coordinates; is_sparse_csr: by rows. layout() says which of all layouts it is.
  bool is_sparse() const { return layout() == kSparse; }
  bool is_quantized() const { return false; }
  bool is_sparse_csr() const { return layout() == kSparseCsr; }
  bool is_mkldnn() const { return false; }
  bool is_nested() const { return false; }
  bool is_xla() const { return false; }
  bool is_xpu() const { return false; }
  bool is_hpu() const { return false; }
  bool is_mtia() const { return false; }
  bool is_vulkan() const { return false; }
  /// Whether its memory is of the host and page-locked, so that devices read it beside the program.
  bool is_pinned(std::optional<Device> device = std::nullopt) const;
  /// The truth of a tensor's only element.
  bool is_nonzero() const;
  bool is_variable() const { return true; }
  bool is_distributed() const { return false; }
  bool is_non_overlapping_and_dense() const;
  std::string toString() const;
  void print() const;

  // --- memory
  /// The first element, null where there are none; T must be the dtype's C++ type (or void). As in LibTorch the typed
  /// address of an empty part of other memory is its place there.
  template <class T>
  T* data_ptr() const {
    if constexpr (std::is_void_v<T>) {
      return data_ptr();
    } else {
      check_dtype(dtype_of<std::remove_const_t<T>>::value, "data_ptr");
      return static_cast<T*>(impl().typed_data());
    }
  }
  void* data_ptr() const {
    return impl_or_fail("Cannot access data pointer of Tensor that doesn't have storage").data();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Indexed reads and writes without checks in the loop; N must be dim().
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const&;
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  /// An accessor by value with its sizes and strides, as programs pass it to kernels.
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const&;
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const&;
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
  [[deprecated(
      "use packed_accessor32 or packed_accessor64 instead")]] GenericPackedTensorAccessor<T, N, PtrTraits, Index>
  packed_accessor() const& {
    const auto view = accessor<T, N>();
    return {view.data(), view.sizes().data(), view.strides().data()};
  }
  /// This tensor where it is contiguous, else a copy that is (maybe_owned.h).
  MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const&;
  MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) && = delete;
  /// The value of a one-element tensor.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // --- conversion
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = std::nullopt) const;
  Tensor to(TypeMeta dtype, bool non_blocking = false, bool copy = false) const {
    return to(typeMetaToScalarType(dtype), non_blocking, copy);
  }
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = std::nullopt) const;
  Tensor to(const TensorOptions& options = {}, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = std::nullopt) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = std::nullopt) const;
  Tensor to(std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory, bool non_blocking, bool copy, std::optional<MemoryFormat> format) const;
  Tensor toType(ScalarType t) const { return to(t); }
  Tensor type(ScalarType t) const { return to(t); }
  Tensor toType(const DeprecatedTypeProperties& t) const { return to(t.options()); }
  /// Backend and dtype, as older programs ask for them.
  DeprecatedTypeProperties& type() const;
  Tensor type_as(const Tensor& other) const { return to(other.options()); }
  Tensor toBackend(DeviceType backend) const { return to(Device(backend)); }
  Tensor toBackend(Backend backend) const { return to(getDeprecatedTypeProperties(backend, scalar_type()).options()); }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  Tensor meta() const { return to(Device(kMeta)); }
  /// Moves the values to memory that processes share which are forked from now on; of the CPU's tensors alone.
  void share_memory_() const;
  /// There are no tensors in oneDNN's layouts: throws.
  Tensor to_mkldnn(std::optional<ScalarType> dtype = std::nullopt) const;
  std::vector<Tensor> nonzero_numpy() const;
  Tensor hardshrink_backward(const Tensor& grad_out, const Scalar& lambd) const;
  Tensor pin_memory(std::optional<Device> device = std::nullopt) const;
  /// The memory of this tensor of CUDA is used by work of `stream`, too: freed, it is given out again only after what
  /// the stream has been given by then. Throws for other devices.
  void record_stream(Stream stream) const;
  Tensor _to_dtype(ScalarType t) const { return to(t); }

  // --- gradients
  bool requires_grad() const;
  const Tensor& requires_grad_(bool requires_grad = true) const;
  /// The same, but leaves a result of an operation as it is where requires_grad_(false) throws.
  const Tensor& set_requires_grad(bool requires_grad) const;
  bool is_leaf() const;
  /// The accumulated gradient; undefined before the first backward.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  const std::shared_ptr<autodiff::Node>& grad_fn() const;
  int64_t output_nr() const;
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                std::optional<TensorList> inputs = std::nullopt) const;
  void retain_grad() const;
  bool retains_grad() const;
  /// Calls `hook(grad)` when the gradient of this tensor is known; a defined result replaces the gradient.
  /// Returns a number for remove_hook.
  template <class F>
  unsigned register_hook(F&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Tensor>>) {
      return add_hook([hook = std::forward<F>(hook)](const Tensor& g) mutable { return hook(g), Tensor(); });
    } else {
      return add_hook(std::forward<F>(hook));
    }
  }
  void remove_hook(unsigned position) const;
  Tensor detach() const;
  Tensor& detach_() const;
  /// The values without history; changes through it are not seen by version checks.
  Tensor data() const;
  Tensor tensor_data() const { return data(); }
  Tensor variable_data() const { return data(); }
  void set_data(const Tensor& new_data) const;
  bool is_view() const;
  const Tensor& _base() const;
  /// How often the memory was changed in place. Throws for an inference tensor, which nobody counts for.
  int64_t _version() const;
  bool is_inference() const { return defined() && impl_->is_inference(); }
  /// A wildcard for each dimension (at most 64): dimensions have no names.
  ArrayRef<bridge::Dimname> names() const;
  bool has_names() const { return false; }
  const std::string& name() const;

  // --- new tensors like this one
  Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {}) const;
  // The options one by one; what is nullopt is this tensor's.
  Tensor new_empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                   std::optional<Device> device, std::optional<bool> pin_memory) const;
  Tensor new_empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype,
                           std::optional<Layout> layout, std::optional<Device> device,
                           std::optional<bool> pin_memory) const;
  Tensor new_zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                   std::optional<Device> device, std::optional<bool> pin_memory) const;
  Tensor new_ones(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory) const;
  Tensor new_full(IntArrayRef size, const Scalar& value, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory) const;
  Tensor new_tensor(const Tensor& data) const;
  const Tensor& resize_(IntArrayRef size, std::optional<MemoryFormat> format = std::nullopt) const;
  const Tensor& resize_as_(const Tensor& other, std::optional<MemoryFormat> format = std::nullopt) const;
  Tensor& set_(const Tensor& source) const;
  /// Window on a storage; throws where it does not fit and cannot grow. Contiguous without `stride`.
  Tensor& set_(const Storage& source, int64_t offset, IntArrayRef size, IntArrayRef stride = {}) const;
  Tensor& set_(const Storage& source) const;
  /// The same on a contiguous tensor's memory, from its first element on.
  Tensor& set_(const Tensor& source, int64_t offset, IntArrayRef size, IntArrayRef stride = {}) const;
  /// No elements, of size (0).
  Tensor& set_() const;
  Tensor sum_to_size(IntArrayRef size) const;

  // --- indexing
  Tensor operator[](int64_t i) const { return select(0, i); }
  Tensor operator[](const Scalar& i) const { return select(0, i.to<int64_t>()); }
  Tensor operator[](const Tensor& i) const;
  Tensor index(ArrayRef<TensorIndex> indices) const { return hb::index_items(*this, indices); }
  Tensor index(std::initializer_list<TensorIndex> indices) const;
  Tensor index(const std::vector<std::optional<Tensor>>& indices) const;
  /// Lists of optional tensors, as c10::List.
  template <class List, class = std::enable_if_t<std::is_same_v<decltype(std::declval<const List&>().vec()),
                                                                std::vector<std::optional<Tensor>>>>>
  Tensor index(const List& indices) const {
    return index(indices.vec());
  }
  template <class List, class = std::enable_if_t<std::is_same_v<decltype(std::declval<const List&>().vec()),
                                                                std::vector<std::optional<Tensor>>>>>
  Tensor& index_put_(const List& indices, const Tensor& value, bool accumulate = false) const {
    return index_put_(indices.vec(), value, accumulate);
  }
  template <class List, class = std::enable_if_t<std::is_same_v<decltype(std::declval<const List&>().vec()),
                                                                std::vector<std::optional<Tensor>>>>>
  Tensor index_put(const List& indices, const Tensor& value, bool accumulate = false) const {
    return index_put(indices.vec(), value, accumulate);
  }
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Tensor& value) const;
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) const;
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value) const;
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) const;
  Tensor& index_put_(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                     bool accumulate = false) const;

  Tensor index_put(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                   bool accumulate = false) const;

  // --- functions of the tables as methods
#define HB_OP(Result, name, params, args) \
  Result name params const { return hb::name(*this HB_TAIL args); }
#define HB_OP_(name, params, args) \
  Tensor& name params const { return hb::name(const_cast<Tensor&>(*this) HB_TAIL args); }
#define HB_METHOD(Result, name, params, args) \
  Result name params const { return hb::method::name(*this HB_TAIL args); }
#define HB_METHOD_(name, params, args) \
  Tensor& name params const { return hb::method::name(const_cast<Tensor&>(*this) HB_TAIL args); }
#include <halfbridge/ops/methods.def>
#define HB_UNARY(name)                            \
  Tensor name() const { return hb::name(*this); } \
  Tensor& name##_() const { return hb::name##_(const_cast<Tensor&>(*this)); }
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name)                                                                                 \
  Tensor name(const Tensor& other) const { return hb::name(*this, other); }                             \
  Tensor name(const Scalar& other) const { return hb::name(*this, other); }                             \
  Tensor& name##_(const Tensor& other) const { return hb::name##_(const_cast<Tensor&>(*this), other); } \
  Tensor& name##_(const Scalar& other) const { return hb::name##_(const_cast<Tensor&>(*this), other); }
#include <halfbridge/ops/binary.def>

  Tensor cov(int64_t correction = 1, const std::optional<Tensor>& fweights = std::nullopt,
             const std::optional<Tensor>& aweights = std::nullopt) const;
  Tensor clamp(const std::optional<Tensor>& min = std::nullopt, const std::optional<Tensor>& max = std::nullopt) const;
  Tensor& clamp_(const std::optional<Tensor>& min = std::nullopt,
                 const std::optional<Tensor>& max = std::nullopt) const;
  Tensor clip(const std::optional<Tensor>& min = std::nullopt, const std::optional<Tensor>& max = std::nullopt) const;
  Tensor& clip_(const std::optional<Tensor>& min = std::nullopt, const std::optional<Tensor>& max = std::nullopt) const;
  Tensor diff(int64_t n = 1, int64_t dim = -1, const std::optional<Tensor>& prepend = std::nullopt,
              const std::optional<Tensor>& append = std::nullopt) const;
  Tensor bincount(const std::optional<Tensor>& weights = std::nullopt, int64_t minlength = 0) const;
  TensorTuple2 histogram(const Tensor& bins, const std::optional<Tensor>& weight = std::nullopt,
                         bool density = false) const;
  TensorTuple2 histogram(int64_t bins = 100, std::optional<ArrayRef<double>> range = std::nullopt,
                         const std::optional<Tensor>& weight = std::nullopt, bool density = false) const;
  Tensor stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
              const std::optional<Tensor>& window, bool normalized, std::optional<bool> onesided = std::nullopt,
              std::optional<bool> return_complex = std::nullopt,
              std::optional<bool> align_to_window = std::nullopt) const;
  Tensor stft(int64_t n_fft, std::optional<int64_t> hop_length = std::nullopt,
              std::optional<int64_t> win_length = std::nullopt, const std::optional<Tensor>& window = std::nullopt,
              bool center = true, std::string_view pad_mode = "reflect", bool normalized = false,
              std::optional<bool> onesided = std::nullopt, std::optional<bool> return_complex = std::nullopt,
              std::optional<bool> align_to_window = std::nullopt) const;
  Tensor istft(int64_t n_fft, std::optional<int64_t> hop_length = std::nullopt,
               std::optional<int64_t> win_length = std::nullopt, const std::optional<Tensor>& window = std::nullopt,
               bool center = true, bool normalized = false, std::optional<bool> onesided = std::nullopt,
               std::optional<int64_t> length = std::nullopt, bool return_complex = false) const;
  /// Sum of a matrix's diagonal. No free function: hb::trace is the namespace of recorded runs.
  Tensor trace() const;
#define HB_UNARY_ALIAS(name, function)       \
  Tensor name() const { return function(); } \
  Tensor& name##_() const { return function##_(); }
#define HB_BINARY_ALIAS(name, function)                                     \
  Tensor name(const Tensor& other) const { return function(other); }        \
  Tensor name(const Scalar& other) const { return function(other); }        \
  Tensor& name##_(const Tensor& other) const { return function##_(other); } \
  Tensor& name##_(const Scalar& other) const { return function##_(other); }
#include <halfbridge/ops/aliases.def>
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;
#include <halfbridge/ops/sparse_methods.def>
#define HB_DEFAULT(...) = __VA_ARGS__
#define HB_SYMINT(Result, name, params, args) Result name##_symint params const;
#include <halfbridge/ops/symint_methods.def>
#undef HB_DEFAULT
  Tensor numpy_T() const;
  Tensor mT() const;
  Tensor mH() const;
  Tensor matrix_H() const;

  // --- operators that change this tensor
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator+=(const Scalar& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator/=(const Scalar& other) { return div_(other); }
  Tensor& operator&=(const Tensor& other) { return bitwise_and_(other); }
  Tensor& operator|=(const Tensor& other) { return bitwise_or_(other); }
  Tensor& operator^=(const Tensor& other) { return bitwise_xor_(other); }
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }

  // --- assignment: to a named tensor rebinds the handle, to a temporary (x[i] = y) copies the values
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor& other) & = default;
  Tensor& operator=(Tensor&& other) & = default;
  Tensor& operator=(const Tensor& other) && { return copy_(other); }
  Tensor& operator=(Tensor&& other) && { return copy_(other); }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }

 private:
  TensorImpl& impl_or_fail(const char* why) const {
    if (HB_UNLIKELY(!impl_)) fail_undefined(why);
    return *impl_;
  }
  [[noreturn]] static void fail_undefined();
  [[noreturn]] static void fail_undefined(const char* why);
  static IntArrayRef undefined_sizes();
  void check_dtype(ScalarType wanted, const char* what) const;
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook) const;

  intrusive_ptr<TensorImpl> impl_;
};

/// Prints as LibTorch prints; columns that do not fit a line of `linesize` go into further blocks.
HB_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
HB_API std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize);
/// To the standard output.
HB_API void print(const Tensor& tensor, int64_t linesize = 80);

template <class T, size_t N>
TensorAccessor<T, N> Tensor::accessor() const& {
  HB_CHECK(dim() == static_cast<int64_t>(N), "[accessor] TensorAccessor expected ", N, " dims but tensor has ", dim());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}
template <class T, size_t N, template <class U> class PtrTraits>
PackedTensorAccessor32<T, N, PtrTraits> Tensor::packed_accessor32() const& {
  HB_CHECK(numel() <= std::numeric_limits<int32_t>::max(),
           "[packed_accessor32] expected fewer than 2^31 elements, got ", numel(), "; use packed_accessor64");
  const auto view = accessor<T, N>();
  return {view.data(), view.sizes().data(), view.strides().data()};
}
template <class T, size_t N, template <class U> class PtrTraits>
PackedTensorAccessor64<T, N, PtrTraits> Tensor::packed_accessor64() const& {
  const auto view = accessor<T, N>();
  return {view.data(), view.sizes().data(), view.strides().data()};
}

}  // namespace hb

#include <halfbridge/tensor_operators.h>

#pragma once
// <ATen/TensorUtils.h>: the checks with which functions of LibTorch extensions begin. Each throws a c10::Error that
// names the argument and the function; those that take lists leave out undefined tensors.

#include <ostream>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/deprecated_type.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// An argument of a function: its tensor, which must outlive it, its name and its place, counted from 1 (0: unknown).
struct TensorArg {
  const Tensor& tensor;
  const char* name;
  int pos;
  TensorArg(const Tensor& t, const char* argument, int position) : tensor(t), name(argument), pos(position) {}
  TensorArg(Tensor&& t, const char* argument, int position) = delete;
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};

/// The shape of a tensor and where its elements lie.
class HB_API TensorGeometry {
 public:
  TensorGeometry() = default;
  explicit TensorGeometry(IntArrayRef sizes);  ///< a contiguous tensor of these sizes
  explicit TensorGeometry(const Tensor& t);

  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t storage_offset() const { return storage_offset_; }
  int64_t numel() const { return numel_; }
  bool is_contiguous() const;
  TensorGeometry transpose(int64_t dim0, int64_t dim1) const;

 private:
  std::vector<int64_t> sizes_, strides_;
  int64_t storage_offset_ = 0, numel_ = 0;
};

struct TensorGeometryArg {
  TensorGeometry tensor;
  const char* name;
  int pos;
  TensorGeometryArg(const TensorArg& arg) : tensor(arg.tensor), name(arg.name), pos(arg.pos) {}  // NOLINT: implicit
  TensorGeometryArg(TensorGeometry t, const char* argument, int position)
      : tensor(std::move(t)), name(argument), pos(position) {}
  const TensorGeometry* operator->() const { return &tensor; }
  const TensorGeometry& operator*() const { return tensor; }
};
/// argument #1 'input'
HB_API std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& t);

/// The name of the function that checks its arguments.
using CheckedFrom = const char*;

HB_API void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim);
HB_API void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim);
/// dim_start <= dimensions < dim_end
HB_API void checkDimRange(CheckedFrom c, const TensorGeometryArg& t, int64_t dim_start, int64_t dim_end);
HB_API void checkSameDim(CheckedFrom c, const TensorGeometryArg& t1, const TensorGeometryArg& t2);
HB_API void checkContiguous(CheckedFrom c, const TensorGeometryArg& t);
HB_API void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> ts);
HB_API void checkSize(CheckedFrom c, const TensorGeometryArg& t, IntArrayRef sizes);
HB_API void checkSize(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, int64_t size);
HB_API void checkNumel(CheckedFrom c, const TensorGeometryArg& t, int64_t numel);
HB_API void checkSameNumel(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
HB_API void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors);
HB_API void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType s);
HB_API void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> l);
/// Always throws, for there are no CUDA tensors.
HB_API void checkSameGPU(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
HB_API void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors);
/// dtype, device and layout
HB_API void checkSameType(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
HB_API void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors);
HB_API void checkSameSize(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
HB_API void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors);
HB_API void checkDefined(CheckedFrom c, const TensorArg& t);
HB_API void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> ts);
HB_API void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend);
HB_API void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType device_type);
HB_API void checkLayout(CheckedFrom c, const Tensor& t, Layout layout);
HB_API void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout);
/// `tensor` has `dim` dimensions, and `size` elements along `dim_size`.
HB_API void check_dim_size(const Tensor& tensor, int64_t dim, int64_t dim_size, int64_t size);

/// nullptr where the tensor is undefined.
HB_API void* maybe_data_ptr(const Tensor& tensor);
inline void* maybe_data_ptr(const TensorArg& tensor) { return maybe_data_ptr(*tensor); }

}  // namespace api
}  // namespace hb::bridge

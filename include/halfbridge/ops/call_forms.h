#pragma once
// The forms name_out(out, …) that write their result into a tensor of the caller's: it takes the result's shape, and
// its dtype must be one that the result's can be cast to. Nothing may require a gradient.

#include <halfbridge/ops.h>

namespace hb {
namespace detail {
template <class List>
using enable_if_index_list =
    std::enable_if_t<std::is_same_v<decltype(std::declval<const List&>().vec()), std::vector<std::optional<Tensor>>>>;
}
namespace ops {
HB_API Tensor& write_out(const char* name, Tensor& out, const Tensor& result);
/// Autocast does nothing while a function with an out tensor runs.
class HB_API OutScope {
 public:
  OutScope();
  ~OutScope();
  OutScope(const OutScope&) = delete;
  OutScope& operator=(const OutScope&) = delete;

 private:
  uint8_t before_;
};
}  // namespace ops

// Programs see declarations, which compile faster; src/ops/common/out_forms.cpp makes the functions.
#ifdef HB_DEFINE_CALL_FORMS
#define HB_BODY(...) \
  { __VA_ARGS__ }
#else
#define HB_BODY(...) ;
#endif

// --- name_out(out, …)
#define HB_OUT_FORMS
#define HB_OUT_bool(name, params, args)
#define HB_OUT_TensorVector(name, params, args)
#define HB_OUT_Tensor(name, params, args)                                             \
  HB_API Tensor& name##_out(Tensor& out, const Tensor& self HB_TAIL params)           \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, self HB_TAIL args); \
              return ops::write_out(#name, out, hb::name(self HB_TAIL args));)
#define HB_OUT_TensorTuple2(name, params, args)                                                                 \
  HB_API std::tuple<Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, const Tensor& self HB_TAIL params) \
      HB_BODY(ops::OutScope scope; const TensorTuple2 r = hb::name(self HB_TAIL args);                          \
              ops::write_out(#name, out0, std::get<0>(r)); ops::write_out(#name, out1, std::get<1>(r));         \
              return {out0, out1};)
#define HB_OUT_TensorTuple3(name, params, args)
#define HB_OP(Result, name, params, args) HB_OUT_##Result(name, params, args)
#define HB_OP_(name, params, args)
#define HB_METHOD(Result, name, params, args)
#define HB_METHOD_(name, params, args)
#include <halfbridge/ops/methods.def>
#define HB_BINARY(name)                                                           \
  HB_API Tensor& name##_out(Tensor& out, const Tensor& self, const Scalar& other) \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, self, other);   \
              return ops::write_out(#name, out, hb::name(self, other));)
#include <halfbridge/ops/binary.def>

// Functions that are not methods.
#define HB_OUT(name)                                      \
  template <class... Args>                                \
  Tensor& name##_out(Tensor& out, const Args&... args) {  \
    ops::OutScope scope;                                  \
    return ops::write_out(#name, out, hb::name(args...)); \
  }
HB_OUT(isin)
HB_OUT(bucketize)
HB_OUT(searchsorted)
HB_OUT(linalg_inv)
HB_OUT(linalg_det)
HB_OUT(linalg_cholesky)
HB_OUT(linalg_solve)
HB_OUT(linalg_pinv)
HB_OUT(linalg_svdvals)
HB_OUT(linalg_eigvalsh)
HB_OUT(linalg_matrix_rank)
#undef HB_OUT
#define HB_OUT(name, params, args)                                                 \
  HB_API Tensor& name##_out(Tensor& out, HB_UNPACK params)                         \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, HB_UNPACK args); \
              return ops::write_out(#name, out, hb::name args);)
#define HB_UNPACK(...) __VA_ARGS__
HB_OUT(linear, (const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {}),
       (input, weight, bias))
HB_OUT(where, (const Tensor& condition, const Tensor& self, const Tensor& other), (condition, self, other))
HB_OUT(mse_loss, (const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean),
       (self, target, reduction))
HB_OUT(nll_loss,
       (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
        int64_t reduction = loss_reduction::Mean, int64_t ignore_index = -100),
       (self, target, weight, reduction, ignore_index))
HB_OUT(binary_cross_entropy,
       (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
        int64_t reduction = loss_reduction::Mean),
       (self, target, weight, reduction))
HB_OUT(stack, (TensorList tensors, int64_t dim = 0), (tensors, dim))
HB_OUT(hstack, (TensorList tensors), (tensors))
HB_OUT(vstack, (TensorList tensors), (tensors))
HB_OUT(dstack, (TensorList tensors), (tensors))
HB_OUT(column_stack, (TensorList tensors), (tensors))
HB_OUT(pow, (const Scalar& self, const Tensor& exponent), (self, exponent))
HB_OUT(clamp,
       (const Tensor& self, const std::optional<Tensor>& min = std::nullopt,
        const std::optional<Tensor>& max = std::nullopt),
       (self, min, max))
HB_OUT(tensordot, (const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other),
       (self, other, dims_self, dims_other))
HB_OUT(linalg_norm,
       (const Tensor& self, const std::optional<Scalar>& ord = std::nullopt, OptionalIntArrayRef dim = std::nullopt,
        bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt),
       (self, ord, dim, keepdim, dtype))
HB_OUT(linalg_norm,
       (const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
        std::optional<ScalarType> dtype = std::nullopt),
       (self, ord, dim, keepdim, dtype))
HB_OUT(linalg_vector_norm,
       (const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
        std::optional<ScalarType> dtype = std::nullopt),
       (self, ord, dim, keepdim, dtype))
#undef HB_OUT
#undef HB_UNPACK
#define HB_OUT_FACTORY(name)                                             \
  template <class... Args>                                               \
  Tensor& name##_out(Tensor& out, const Args&... args) {                 \
    return ops::write_out(#name, out, hb::name(args..., out.options())); \
  }
HB_OUT_FACTORY(arange)
HB_OUT_FACTORY(range)
HB_OUT_FACTORY(linspace)
HB_OUT_FACTORY(logspace)
HB_OUT_FACTORY(eye)
#undef HB_OUT_FACTORY
HB_API Tensor& repeat_out(Tensor& out, const Tensor& self, IntArrayRef repeats);
HB_API Tensor& zeros_out(Tensor& out, IntArrayRef size);
HB_API Tensor& ones_out(Tensor& out, IntArrayRef size);
HB_API Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& value);
#undef HB_OUT_FORMS
#undef HB_OUT_bool
#undef HB_OUT_Tensor
#undef HB_OUT_TensorVector
#undef HB_OUT_TensorTuple2
#undef HB_OUT_TensorTuple3

// --- the options one by one, as operators take them in C++; what is nullopt is the default.
#define HB_SPLIT_OPTIONS                                                                       \
  std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory
#define HB_JOINED TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory)
#define HB_SPLIT(name, params, args) \
  HB_API Tensor name(HB_UNPACK params, HB_SPLIT_OPTIONS) HB_BODY(return hb::name(HB_UNPACK args, HB_JOINED);)
#define HB_UNPACK(...) __VA_ARGS__
HB_SPLIT(zeros, (IntArrayRef size), (size))
HB_SPLIT(ones, (IntArrayRef size), (size))
HB_SPLIT(rand, (IntArrayRef size), (size))
HB_SPLIT(randn, (IntArrayRef size), (size))
HB_SPLIT(full, (IntArrayRef size, const Scalar& value), (size, value))
HB_SPLIT(empty_strided, (IntArrayRef size, IntArrayRef stride), (size, stride))
HB_SPLIT(randint, (int64_t high, IntArrayRef size), (high, size))
HB_SPLIT(randint, (int64_t low, int64_t high, IntArrayRef size), (low, high, size))
HB_SPLIT(randperm, (int64_t n), (n))
HB_SPLIT(eye, (int64_t n), (n))
HB_SPLIT(eye, (int64_t n, int64_t m), (n, m))
HB_SPLIT(arange, (const Scalar& end), (end))
HB_SPLIT(arange, (const Scalar& start, const Scalar& end), (start, end))
HB_SPLIT(arange, (const Scalar& start, const Scalar& end, const Scalar& step), (start, end, step))
HB_SPLIT(linspace, (const Scalar& start, const Scalar& end, int64_t steps), (start, end, steps))
HB_SPLIT(logspace, (const Scalar& start, const Scalar& end, int64_t steps, double base), (start, end, steps, base))
HB_SPLIT(scalar_tensor, (const Scalar& value), (value))
HB_SPLIT(tril_indices, (int64_t row, int64_t col, int64_t offset), (row, col, offset))
HB_SPLIT(triu_indices, (int64_t row, int64_t col, int64_t offset), (row, col, offset))
#undef HB_SPLIT
#define HB_SPLIT_FORMAT(name, params, args)                                                         \
  HB_API Tensor name(HB_UNPACK params, HB_SPLIT_OPTIONS, std::optional<MemoryFormat> memory_format) \
      HB_BODY(return hb::name(HB_UNPACK args, HB_JOINED, memory_format);)
HB_SPLIT_FORMAT(empty, (IntArrayRef size), (size))
HB_SPLIT_FORMAT(empty_like, (const Tensor& self), (self))
HB_SPLIT_FORMAT(zeros_like, (const Tensor& self), (self))
HB_SPLIT_FORMAT(ones_like, (const Tensor& self), (self))
HB_SPLIT_FORMAT(rand_like, (const Tensor& self), (self))
HB_SPLIT_FORMAT(randn_like, (const Tensor& self), (self))
HB_SPLIT_FORMAT(full_like, (const Tensor& self, const Scalar& value), (self, value))
HB_SPLIT_FORMAT(randint_like, (const Tensor& self, int64_t high), (self, high))
HB_SPLIT_FORMAT(randint_like, (const Tensor& self, int64_t low, int64_t high), (self, low, high))
#undef HB_SPLIT_FORMAT
#undef HB_SPLIT_OPTIONS
#undef HB_JOINED
#undef HB_UNPACK

// --- indices in a c10::List
template <class List, class = detail::enable_if_index_list<List>>
Tensor index(const Tensor& self, const List& indices) {
  return hb::index(self, indices.vec());
}
template <class List, class = detail::enable_if_index_list<List>>
Tensor& index_put_(Tensor& self, const List& indices, const Tensor& value, bool accumulate = false) {
  return hb::index_put_(self, indices.vec(), value, accumulate);
}
template <class List, class = detail::enable_if_index_list<List>>
Tensor index_put(const Tensor& self, const List& indices, const Tensor& value, bool accumulate = false) {
  return hb::index_put(self, indices.vec(), value, accumulate);
}

}  // namespace hb

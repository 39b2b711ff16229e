#pragma once
// <ATen/ExpandUtils.h>: broadcasting, for kernels of LibTorch extensions.

#include <functional>
#include <tuple>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/bridge/small_vector.h>
#include <halfbridge/maybe_owned.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// The sizes to which both broadcast; an error where they do not.
HB_API std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b);
HB_API SmallVector<int64_t, 5> infer_size_dimvector(IntArrayRef a, IntArrayRef b);
/// Whether infer_size succeeds.
HB_API bool are_expandable(IntArrayRef a, IntArrayRef b);
/// Whether a tensor of sizes `shape` can be expanded to `desired`.
HB_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired);
/// Sizes and strides of a tensor expanded to `sizes`, where -1 keeps a size.
HB_API std::tuple<std::vector<int64_t>, std::vector<int64_t>> inferExpandGeometry(IntArrayRef tensor_sizes,
                                                                                  IntArrayRef tensor_strides,
                                                                                  IntArrayRef sizes);
HB_API void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char* api_name);

// The result borrows the argument where there is nothing to expand: the common calls refuse temporaries.

/// `to_expand`, expanded to the sizes of `tensor`.
HB_API MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand);
HB_API MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand, const char* api_name);
HB_API std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_inplace(const Tensor& tensor, const Tensor& a,
                                                                         const Tensor& b);
MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, Tensor&& to_expand) = delete;
MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, Tensor&& to_expand, const char* api_name) = delete;

/// All expanded to the sizes to which they broadcast.
HB_API std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b);
HB_API std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b,
                                                                          const char* api_name);
HB_API std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a,
                                                                                              const Tensor& b,
                                                                                              const Tensor& c);
HB_API std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a,
                                                                                              const Tensor& b,
                                                                                              const Tensor& c,
                                                                                              const char* api_name);
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(Tensor&& a, const Tensor& b) = delete;
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, Tensor&& b) = delete;
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(Tensor&& a, Tensor&& b) = delete;
/// Undefined tensors stay undefined.
HB_API std::vector<Tensor> expand_outplace(ArrayRef<Tensor> tensors);

HB_API MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes);
HB_API MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes, const char* api_name);
MaybeOwned<Tensor> expand_size(Tensor&& to_expand, IntArrayRef sizes) = delete;

}  // namespace api
}  // namespace hb::bridge

#include <halfbridge/bridge/expand.h>

#include <algorithm>

namespace hb::bridge {
inline namespace api {

std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  std::vector<int64_t> sizes(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= sizes.size(); ++i) {
    const int64_t size_a = i <= a.size() ? a[a.size() - i] : 1, size_b = i <= b.size() ? b[b.size() - i] : 1;
    HB_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "The size of tensor a (", size_a,
             ") must match the size of tensor b (", size_b, ") at non-singleton dimension ", sizes.size() - i);
    sizes[sizes.size() - i] = size_a == 1 ? size_b : size_a;
  }
  return sizes;
}
SmallVector<int64_t, 5> infer_size_dimvector(IntArrayRef a, IntArrayRef b) {
  return SmallVector<int64_t, 5>(infer_size(a, b));
}

bool are_expandable(IntArrayRef a, IntArrayRef b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t size_a = a[a.size() - i], size_b = b[b.size() - i];
    if (size_a != size_b && size_a != 1 && size_b != 1) return false;
  }
  return true;
}

bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t size = shape[shape.size() - i];
    if (size != desired[desired.size() - i] && size != 1) return false;
  }
  return true;
}

std::tuple<std::vector<int64_t>, std::vector<int64_t>> inferExpandGeometry(IntArrayRef tensor_sizes,
                                                                           IntArrayRef tensor_strides,
                                                                           IntArrayRef sizes) {
  HB_CHECK(tensor_sizes.size() <= sizes.size(), "[expand] expected at least ", tensor_sizes.size(),
           " sizes, one per dimension of the tensor, got ", sizes.size());
  std::vector<int64_t> to = sizes.vec(), strides(sizes.size());
  const size_t added = sizes.size() - tensor_sizes.size();
  for (size_t i = sizes.size(); i-- > 0;) {
    const bool is_new = i < added;
    const int64_t size = is_new ? 1 : tensor_sizes[i - added];
    HB_CHECK(to[i] != -1 || !is_new, "[expand] expected a size for the leading, non-existing dimension ", i,
             ", got -1");
    if (to[i] == -1) to[i] = size;
    HB_CHECK(size == to[i] || size == 1, "The expanded size of the tensor (", to[i], ") must match the existing size (",
             size, ") at non-singleton dimension ", i, ".  Target sizes: ", sizes, ".  Tensor sizes: ", tensor_sizes);
    // A dimension that was added lies outside of the one that follows it, an expanded one repeats its only element.
    const int64_t own = !is_new ? tensor_strides[i - added] : i + 1 < to.size() ? to[i + 1] * strides[i + 1] : 1;
    strides[i] = size == to[i] ? own : 0;
  }
  return {to, strides};
}

void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char* api_name) {
  for (const Tensor& t : tensors) HB_CHECK(t.defined(), api_name, "(...) called with an undefined Tensor");
}

MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes) {
  return to_expand.sizes() == sizes ? MaybeOwned<Tensor>::borrowed(to_expand)
                                    : MaybeOwned<Tensor>::owned(to_expand.expand(sizes));
}
MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes, const char* api_name) {
  check_defined({to_expand}, api_name);
  return expand_size(to_expand, sizes);
}

MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return expand_size(to_expand, tensor.sizes());
}
MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand, const char* api_name) {
  check_defined({tensor, to_expand}, api_name);
  return expand_inplace(tensor, to_expand);
}
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_inplace(const Tensor& tensor, const Tensor& a,
                                                                  const Tensor& b) {
  return {expand_size(a, tensor.sizes()), expand_size(b, tensor.sizes())};
}

std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b) {
  const auto sizes = infer_size(a.sizes(), b.sizes());
  return {expand_size(a, sizes), expand_size(b, sizes)};
}
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b,
                                                                   const char* api_name) {
  check_defined({a, b}, api_name);
  return expand_outplace(a, b);
}
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b,
                                                                                       const Tensor& c) {
  const auto sizes = infer_size(infer_size(a.sizes(), b.sizes()), c.sizes());
  return {expand_size(a, sizes), expand_size(b, sizes), expand_size(c, sizes)};
}
std::tuple<MaybeOwned<Tensor>, MaybeOwned<Tensor>, MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b,
                                                                                       const Tensor& c,
                                                                                       const char* api_name) {
  check_defined({a, b, c}, api_name);
  return expand_outplace(a, b, c);
}

std::vector<Tensor> expand_outplace(ArrayRef<Tensor> tensors) {
  std::vector<int64_t> sizes;
  for (const Tensor& t : tensors)
    if (t.defined()) sizes = infer_size(sizes, t.sizes());
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(t.defined() ? *expand_size(t, sizes) : t);
  return result;
}

}  // namespace api
}  // namespace hb::bridge

#include <halfbridge/ops/foreach.h>

#include <cmath>

#include <halfbridge/ops.h>

namespace hb {

namespace {

void check(TensorList self) { HB_CHECK(!self.empty(), "Tensor list must have at least one tensor."); }
void check(TensorList self, TensorList other) {
  check(self);
  HB_CHECK(self.size() == other.size(), "Tensor lists must have the same number of tensors, got ", self.size(), " and ",
           other.size());
}
void check(TensorList self, ArrayRef<Scalar> scalars) {
  check(self);
  HB_CHECK(self.size() == scalars.size(), "Tensor list must have same number of elements as scalar list.");
}
void check(TensorList self, const Scalar&) { check(self); }
void check(TensorList self, const Tensor& other) {
  check(self);
  HB_CHECK(other.dim() == 0 && other.numel() == 1, "scalar tensor expected to be 0 dim but it has ", other.dim(),
           " dimensions and ", other.numel(), " elements.");
}

// What operand i of a call is.
const Scalar& at(const Scalar& scalar, size_t) { return scalar; }
const Tensor& at(const Tensor& tensor, size_t) { return tensor; }
const Scalar& at(ArrayRef<Scalar> scalars, size_t i) { return scalars[i]; }
const Tensor& at(TensorList tensors, size_t i) { return tensors[i]; }

template <class F>
std::vector<Tensor> results(size_t count, const F& of) {
  std::vector<Tensor> all;
  all.reserve(count);
  for (size_t i = 0; i < count; ++i) all.push_back(of(i));
  return all;
}

std::vector<Scalar> numbers_of(TensorList self, const Tensor& scalars) {
  check(self);
  HB_CHECK(scalars.device().is_cpu(), "Expected scalars to be on CPU, got ", scalars.device(), " instead.");
  HB_CHECK(scalars.is_contiguous(), "Expected scalars to be contiguous.");
  HB_CHECK(scalars.dim() == 1, "Expected packed scalar Tensor to be of dimension 1. Got ", scalars.dim(), " instead.");
  HB_CHECK(static_cast<size_t>(scalars.numel()) == self.size(), "Expected length of scalars to match input of length ",
           self.size(), " but got ", scalars.numel(), " instead.");
  std::vector<Scalar> all;
  all.reserve(self.size());
  for (int64_t i = 0; i < scalars.numel(); ++i) all.push_back(scalars[i].item());
  return all;
}

}  // namespace

#define HB_FOREACH_UNARY(name)                                                \
  std::vector<Tensor> _foreach_##name(TensorList self) {                      \
    check(self);                                                              \
    return results(self.size(), [&](size_t i) { return hb::name(self[i]); }); \
  }                                                                           \
  void _foreach_##name##_(TensorList self) {                                  \
    check(self);                                                              \
    for (const Tensor& t : self) t.name##_();                                 \
  }

#define HB_FOREACH_WITH(name, function, Operand)                                           \
  std::vector<Tensor> _foreach_##name(TensorList self, Operand other) {                    \
    check(self, other);                                                                    \
    return results(self.size(), [&](size_t i) { return self[i].function(at(other, i)); }); \
  }                                                                                        \
  void _foreach_##name##_(TensorList self, Operand other) {                                \
    check(self, other);                                                                    \
    for (size_t i = 0; i < self.size(); ++i) self[i].function##_(at(other, i));            \
  }
#define HB_FOREACH_BINARY(name, of_number)        \
  HB_FOREACH_WITH(name, of_number, const Scalar&) \
  HB_FOREACH_WITH(name, name, TensorList)         \
  HB_FOREACH_WITH(name, of_number, ArrayRef<Scalar>)

#define HB_FOREACH_TIMES(name, Operand)                                                       \
  std::vector<Tensor> _foreach_##name(TensorList self, Operand other, const Scalar& alpha) {  \
    check(self, other);                                                                       \
    return results(self.size(), [&](size_t i) { return self[i].name(at(other, i), alpha); }); \
  }                                                                                           \
  void _foreach_##name##_(TensorList self, Operand other, const Scalar& alpha) {              \
    check(self, other);                                                                       \
    for (size_t i = 0; i < self.size(); ++i) self[i].name##_(at(other, i), alpha);            \
  }
#define HB_FOREACH_SUM(name)                 \
  HB_FOREACH_WITH(name, name, const Scalar&) \
  HB_FOREACH_TIMES(name, TensorList)         \
  HB_FOREACH_WITH(name, name, ArrayRef<Scalar>)

#define HB_FOREACH_FACTORS(name, Operand)                                                                         \
  std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2, Operand factors) { \
    check(self, tensor1), check(self, tensor2), check(self, factors);                                             \
    return results(self.size(), [&](size_t i) { return self[i].name(tensor1[i], tensor2[i], at(factors, i)); });  \
  }                                                                                                               \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, Operand factors) {             \
    check(self, tensor1), check(self, tensor2), check(self, factors);                                             \
    for (size_t i = 0; i < self.size(); ++i) self[i].name##_(tensor1[i], tensor2[i], at(factors, i));             \
  }
#define HB_FOREACH_TERNARY(name)                                                                            \
  HB_FOREACH_FACTORS(name, const Scalar&)                                                                   \
  HB_FOREACH_FACTORS(name, ArrayRef<Scalar>)                                                                \
  std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,              \
                                      const Tensor& scalars) {                                              \
    return _foreach_##name(self, tensor1, tensor2, numbers_of(self, scalars));                              \
  }                                                                                                         \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) { \
    _foreach_##name##_(self, tensor1, tensor2, numbers_of(self, scalars));                                  \
  }
#include <halfbridge/ops/foreach.def>

HB_FOREACH_TIMES(add, const Tensor&)
HB_FOREACH_WITH(mul, mul, const Tensor&)
HB_FOREACH_WITH(div, div, const Tensor&)
std::vector<Tensor> _foreach_pow(const Scalar& self, TensorList exponent) {
  check(exponent);
  return results(exponent.size(), [&](size_t i) { return hb::pow(self, exponent[i]); });
}

#define HB_FOREACH_LERP(Operand)                                                                     \
  std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, Operand weight) {          \
    check(self, tensors1), check(self, weight);                                                      \
    return results(self.size(), [&](size_t i) { return self[i].lerp(tensors1[i], at(weight, i)); }); \
  }                                                                                                  \
  void _foreach_lerp_(TensorList self, TensorList tensors1, Operand weight) {                        \
    check(self, tensors1), check(self, weight);                                                      \
    for (size_t i = 0; i < self.size(); ++i) self[i].lerp_(tensors1[i], at(weight, i));              \
  }
HB_FOREACH_LERP(TensorList)
HB_FOREACH_LERP(const Scalar&)
HB_FOREACH_LERP(ArrayRef<Scalar>)
#undef HB_FOREACH_LERP

std::vector<Tensor> _foreach_copy(TensorList self, TensorList src, bool non_blocking) {
  check(self, src);
  return results(self.size(), [&](size_t i) { return empty_like(self[i]).copy_(src[i], non_blocking); });
}
void _foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  check(self, src);
  for (size_t i = 0; i < self.size(); ++i) self[i].copy_(src[i], non_blocking);
}
std::vector<Tensor> _foreach_zero(TensorList self) {
  check(self);
  return results(self.size(), [&](size_t i) { return zeros_like(self[i]); });
}
void _foreach_zero_(TensorList self) {
  check(self);
  for (const Tensor& t : self) t.zero_();
}

std::vector<Tensor> _foreach_max(TensorList self) {
  check(self);
  return results(self.size(), [&](size_t i) { return self[i].max(); });
}
std::vector<Tensor> _foreach_norm(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  check(self);
  if (ord.isFloatingPoint() && std::isinf(ord.toDouble()))
    for (const Tensor& t : self)
      HB_CHECK(t.numel() > 0,
               "_foreach_norm cannot compute the infinity norm on an empty tensor because the operation "
               "does not have an identity");
  return results(self.size(), [&](size_t i) { return linalg_vector_norm(self[i], ord, std::nullopt, false, dtype); });
}
std::vector<Tensor> _foreach_powsum(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  check(self);
  return results(self.size(), [&](size_t i) { return self[i].abs().pow(ord).sum(dtype); });
}

}  // namespace hb

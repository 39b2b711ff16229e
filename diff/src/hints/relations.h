// How one tensor follows from another: transposed, scaled, reversed, passed through an activation, …
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::layer_diff::hints {

struct Rearranged {
  std::string cause, text;
  Tensor tensor;
};
/// The elements of `tensor` in other orders, each of the shape `shape` (of as many elements): dimensions permuted,
/// memory read in another order of dimensions, reversed, blocks (gates) and flattened dimensions in another order.
/// Calls `visit` until it returns true; says whether it did. `noun` names the tensor in the text.
bool for_rearrangements(const Tensor& tensor, const std::vector<int64_t>& shape, const std::string& noun,
                        const std::function<bool(const Rearranged&)>& visit);

struct Relation {
  std::string cause, text;
  double max_abs = 0;
};
/// The relation of `test` to `ref`, proved on every element; nothing where none of those known holds, or where they
/// agree. `noun` names the tensor ("the weight", "the input").
std::optional<Relation> relate(const Tensor& ref, const Tensor& test, const std::string& noun);
/// The same for activations alone: test = relu(ref), ref = relu(test), …
std::optional<Relation> relate_by_activation(const Tensor& ref, const Tensor& test, const std::string& noun);
/// test = factor * ref, with the factor.
std::optional<double> factor_between(const Tensor& ref, const Tensor& test);

/// Whether `test` has a coarser dtype and is `ref` rounded to it.
bool is_rounded_to(const Tensor& ref, const Tensor& test);
/// Whether the tensors agree up to a few units of rounding.
bool agree(const Tensor& a, const Tensor& b, double* max_abs = nullptr);
/// 0.0039215686 as "1/255", 65536 as "65536", 0.123 as "0.123".
std::string text_of_factor(double factor);

}  // namespace hb::layer_diff::hints

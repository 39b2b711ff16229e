#include <halfbridge/bridge/nn/embedding.h>

#include <halfbridge/ops.h>

#include "ops/nn/embedding_bag.h"

namespace hb::bridge::nn::functional {

Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return hb::one_hot(tensor, num_classes); }

namespace {

/// The number of the row that padding is; -1: none.
int64_t padding_of(const std::optional<int64_t>& index, const Tensor& weight) {
  if (!index) return -1;
  const int64_t rows = weight.size(0);
  HB_CHECK(*index < rows && *index >= -rows, "Padding_idx must be within num_embeddings");
  return *index < 0 ? *index + rows : *index;
}

/// Both numbers go through float, as in LibTorch.
void renorm(const Tensor& weight, const Tensor& input, const std::optional<double>& max_norm, double norm_type) {
  if (!max_norm) return;
  NoGradGuard no_grad;
  Tensor rows = weight;
  hb::embedding_renorm_(rows, input.contiguous(), static_cast<float>(*max_norm), static_cast<float>(norm_type));
}

}  // namespace

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& o) {
  const int64_t padding = padding_of(o.padding_idx(), weight);
  renorm(weight, input, o.max_norm(), o.norm_type());
  return hb::embedding(weight, input, padding, o.scale_grad_by_freq(), o.sparse());
}

namespace {

// The number of bags, of offsets that the host has read.
int64_t checked_bags(const Tensor& on_host, int64_t indices, bool include_last) {
  HB_CHECK(!include_last || on_host.numel() > 0,
           "[embedding_bag] include_last_offset: expected at least 1 offset, got none");
  const IntArrayRef begin(on_host.data_ptr<int64_t>(), on_host.numel());
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t end = i + 1 < begin.size() ? begin[i + 1] : indices;
    HB_CHECK(begin[i] >= 0 && begin[i] <= end && end <= indices, "[embedding_bag] expected increasing offsets up to ",
             indices, ", got ", begin);
  }
  HB_CHECK(begin.empty() || begin[0] == 0, "offsets[0] has to be 0, got ", begin[0]);
  return static_cast<int64_t>(begin.size()) - (include_last ? 1 : 0);
}

ops::Bags bags_of(const Tensor& input, const EmbeddingBagFuncOptions& o) {
  ops::Bags bags;
  bags.samples = o.per_sample_weights();
  HB_CHECK(!bags.samples.defined() || bags.samples.sizes() == input.sizes(),
           "embedding_bag: If per_sample_weights is not "
           "null, then it must have the same shape as the input, got ",
           bags.samples.defined() ? bags.samples.sizes() : IntArrayRef(), " and ", input.sizes());
  HB_CHECK(input.scalar_type() == kLong || input.scalar_type() == kInt,
           "[embedding_bag] Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
           "Int; but got ",
           input.scalar_type(), " instead");
  bags.index = input.to(kLong).contiguous();
  if (input.dim() == 2) {
    HB_CHECK(!o.offsets().defined(),
             "If input is 2D, then offsets has to be null, as input is treated is a mini-batch of "
             "fixed length sequences. However, found offsets of type Tensor");
    bags.count = input.size(0);
    bags.begin = hb::arange(bags.count + 1, bags.index.options()) * input.size(1);
    bags.index = bags.index.reshape({-1});
    if (bags.samples.defined()) bags.samples = bags.samples.reshape({-1});
    return bags;
  }
  HB_CHECK(input.dim() == 1, "input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim());
  HB_CHECK(o.offsets().defined() && o.offsets().dim() == 1, "offsets has to be a 1D Tensor but got ",
           o.offsets().defined() ? "another" : "null");
  bags.begin = o.offsets().to(bags.index.device(), kLong).contiguous();
  bags.begin_on_host = bags.begin.to(kCPU);
  bags.count = checked_bags(bags.begin_on_host, input.numel(), o.include_last_offset());
  return bags;
}

// The bags of the input, checked.
ops::Bags checked_input(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  const bool is_max = std::holds_alternative<enumtype::kMax>(o.mode());
  HB_CHECK(!(is_max && o.sparse()), "max mode does not support sparse weights");
  HB_CHECK(!(is_max && o.scale_grad_by_freq()), "max mode does not support scaling the gradient by the frequency");
  const bool is_sum = std::holds_alternative<enumtype::kSum>(o.mode());
  HB_CHECK(!o.per_sample_weights().defined() || o.per_sample_weights().sizes() == input.sizes(),
           "embedding_bag: If per_sample_weights (", o.per_sample_weights().sizes(),
           ") is not null, then it must have the same shape as the input (", input.sizes(), ")");
  HB_CHECK(!o.per_sample_weights().defined() || is_sum,
           "embedding_bag: per_sample_weights was not null. per_sample_weights is only supported for mode='kSum' (got "
           "mode='",
           enumtype::get_enum_name(o.mode()), "')");
  HB_CHECK(is_floating_type(weight.scalar_type()),
           "[embedding_bag] Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
           "BFloat16, Float, Double; but got ",
           toString(weight.scalar_type()));
  ops::Bags bags = bags_of(input, o);
  bags.mode = is_sum ? BagMode::sum : is_max ? BagMode::max : BagMode::mean;
  bags.padding = padding_of(o.padding_idx(), weight);
  bags.by_frequency = o.scale_grad_by_freq(), bags.sparse = o.sparse();
  renorm(weight, bags.index, o.max_norm(), o.norm_type());
  return bags;
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  return ops::embedding_bag(weight, checked_input(input, weight, o));
}

}  // namespace hb::bridge::nn::functional

namespace hb::bridge {
inline namespace api {

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices,
                                                         const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                                                         bool sparse, const std::optional<Tensor>& per_sample_weights,
                                                         bool include_last_offset, std::optional<int64_t> padding_idx) {
  HB_CHECK(mode >= 0 && mode <= 2, "[embedding_bag] expected mode 0 (sum), 1 (mean) or 2 (max), got ", mode);
  HB_CHECK(indices.dim() == 1, "[embedding_bag] expected indices of one dimension, got ", indices.sizes());
  nn::functional::EmbeddingBagFuncOptions o;
  o.offsets(offsets).scale_grad_by_freq(scale_grad_by_freq).sparse(sparse).include_last_offset(include_last_offset);
  o.padding_idx(padding_idx).per_sample_weights(per_sample_weights.value_or(Tensor()));
  if (mode == 0) o.mode(kSum);
  if (mode == 2) o.mode(kMax);
  const ops::Bags bags = nn::functional::checked_input(indices, weight, o);
  auto [numbers, counted] = ops::numbers_of_bags(bags);
  if (bags.padding >= 0) {
    const Tensor padding = bags.index.narrow(0, 0, numbers.numel()).eq(bags.padding).to(kLong);
    counted = counted - zeros_like(counted).index_add(0, numbers, padding);
  }
  const ScalarType dtype = offsets.scalar_type();
  return {ops::embedding_bag(weight, bags), numbers.to(dtype), counted.to(dtype),
          mode == 2 ? ops::rows_of_maxima(weight, bags).to(dtype) : hb::empty({0}, offsets.options())};
}

}  // namespace api
}  // namespace hb::bridge

#include <halfbridge/bridge/nn/embedding.h>

#include <halfbridge/ops.h>

namespace hb::bridge::nn::functional {

Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return hb::one_hot(tensor, num_classes); }

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& o) {
  int64_t padding = -1;
  if (o.padding_idx()) {
    padding = *o.padding_idx();
    const int64_t rows = weight.size(0);
    HB_CHECK(padding < rows && padding >= -rows, "Padding_idx must be within num_embeddings");
    if (padding < 0) padding += rows;
  }
  if (o.max_norm()) {
    NoGradGuard no_grad;  // both numbers go through float, as in LibTorch
    Tensor rows = weight;
    hb::embedding_renorm_(rows, input.contiguous(), static_cast<float>(*o.max_norm()),
                          static_cast<float>(o.norm_type()));
  }
  return hb::embedding(weight, input, padding, o.scale_grad_by_freq(), o.sparse());
}

namespace {

// Indices, weights and offsets as one long list of bags.
struct Bags {
  Tensor indices, weights;
  std::vector<int64_t> begin;  // of each bag, and the end of the last
};

Bags bags_of(const Tensor& input, const EmbeddingBagFuncOptions& o) {
  Bags bags{input, o.per_sample_weights(), {}};
  HB_CHECK(!bags.weights.defined() || bags.weights.sizes() == input.sizes(),
           "embedding_bag: If per_sample_weights is not "
           "null, then it must have the same shape as the input, got ",
           bags.weights.defined() ? bags.weights.sizes() : IntArrayRef(), " and ", input.sizes());
  if (input.dim() == 2) {
    HB_CHECK(!o.offsets().defined(),
             "If input is 2D, then offsets has to be null, as input is treated is a mini-batch of "
             "fixed length sequences. However, found offsets of type Tensor");
    for (int64_t i = 0; i <= input.size(0); ++i) bags.begin.push_back(i * input.size(1));
    bags.indices = input.reshape({-1});
    if (bags.weights.defined()) bags.weights = bags.weights.reshape({-1});
    return bags;
  }
  HB_CHECK(input.dim() == 1, "input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim());
  HB_CHECK(o.offsets().defined() && o.offsets().dim() == 1, "offsets has to be a 1D Tensor but got ",
           o.offsets().defined() ? "another" : "null");
  Tensor offsets = o.offsets().to(kCPU, kLong).contiguous();
  bags.begin.assign(offsets.data_ptr<int64_t>(), offsets.data_ptr<int64_t>() + offsets.numel());
  if (!o.include_last_offset()) bags.begin.push_back(input.numel());
  for (size_t i = 0; i + 1 < bags.begin.size(); ++i)
    HB_CHECK(bags.begin[i] >= 0 && bags.begin[i] <= bags.begin[i + 1] && bags.begin[i + 1] <= input.numel(),
             "[embedding_bag] expected increasing offsets up to ", input.numel(), ", got ", IntArrayRef(bags.begin));
  HB_CHECK(bags.begin.empty() || bags.begin[0] == 0, "offsets[0] has to be 0, got ", bags.begin[0]);
  return bags;
}

struct Pooled {
  Tensor values, bag;          // of each bag; of each index, the number of its bag
  std::vector<int64_t> begin;  // as in Bags
};

// Composed of a look-up and a sum by bag; the number of bags, not of indices, decides the cost of `max`.
Pooled pooled(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  const bool is_max = std::holds_alternative<enumtype::kMax>(o.mode());
  HB_CHECK(!(is_max && o.sparse()), "max mode does not support sparse weights");
  HB_CHECK(!(is_max && o.scale_grad_by_freq()), "max mode does not support scaling the gradient by the frequency");
  HB_CHECK(!o.per_sample_weights().defined() || std::holds_alternative<enumtype::kSum>(o.mode()),
           "embedding_bag: per_sample_weights is only supported for mode='kSum' (got mode='",
           enumtype::get_enum_name(o.mode()), "')");
  HB_CHECK(is_floating_type(weight.scalar_type()),
           "[embedding_bag] Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
           "BFloat16, Float, Double; but got ",
           toString(weight.scalar_type()));
  Bags bags = bags_of(input, o);
  const auto count = static_cast<int64_t>(bags.begin.size()) - 1;
  EmbeddingFuncOptions lookup;
  lookup.max_norm(o.max_norm()).norm_type(o.norm_type()).scale_grad_by_freq(o.scale_grad_by_freq()).sparse(o.sparse());
  lookup.padding_idx(o.padding_idx());
  Tensor rows = embedding(bags.indices, weight, lookup);  // (total, embedding_dim)
  if (bags.weights.defined()) rows = rows * bags.weights.unsqueeze(1);

  std::vector<int64_t> bag_of_row;
  for (int64_t b = 0; b < count; ++b) bag_of_row.insert(bag_of_row.end(), bags.begin[b + 1] - bags.begin[b], b);
  rows = rows.narrow(0, 0, static_cast<int64_t>(bag_of_row.size()));
  Tensor bag = hb::tensor(bag_of_row, rows.options().dtype(kLong));
  const bool is_sum = std::holds_alternative<enumtype::kSum>(o.mode());
  Tensor counted;
  if (o.padding_idx()) {  // its entries count as absent
    const int64_t padding = *o.padding_idx() < 0 ? *o.padding_idx() + weight.size(0) : *o.padding_idx();
    counted = bags.indices.narrow(0, 0, bag.numel()).ne(padding).to(rows.scalar_type());
    rows = is_max ? rows : rows * counted.unsqueeze(1);
  } else if (!is_sum) {
    counted = hb::ones({bag.numel()}, rows.options());
  }
  Tensor zero = hb::zeros({count, weight.size(1)}, rows.options());
  if (!is_max) {
    Tensor sums = zero.index_add_(0, bag, rows);
    if (!is_sum) sums = sums / hb::zeros({count}, rows.options()).index_add_(0, bag, counted).clamp_min(1).unsqueeze(1);
    return {sums, bag, bags.begin};
  }
  std::vector<Tensor> maxima;
  for (int64_t b = 0; b < count; ++b) {
    Tensor part = rows.narrow(0, bags.begin[b], bags.begin[b + 1] - bags.begin[b]);
    Tensor kept = counted.narrow(0, bags.begin[b], bags.begin[b + 1] - bags.begin[b]).ne(0);
    part = part.index_select(0, kept.nonzero().squeeze(1));
    maxima.push_back(part.size(0) ? std::get<0>(part.max(0)) : zero[b]);
  }
  return {count ? hb::stack(maxima) : zero, bag, bags.begin};
}

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  return pooled(input, weight, o).values;
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
  const auto result = nn::functional::pooled(indices, weight, o);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i + 1 < result.begin.size(); ++i) sizes.push_back(result.begin[i + 1] - result.begin[i]);
  return {result.values, result.bag.to(offsets.scalar_type()), hb::tensor(sizes, offsets.options()),
          hb::empty({0}, offsets.options())};
}

}  // namespace api
}  // namespace hb::bridge

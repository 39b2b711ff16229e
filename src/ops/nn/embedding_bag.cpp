#include "ops/nn/embedding_bag.h"

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "ops/common/layout.h"

namespace hb::ops {
namespace {

/// The indices that are in a bag.
Tensor bagged_indices(const Bags& bags, const Tensor& number) { return bags.index.narrow(0, 0, number.numel()); }

/// Per index: 1, or 0 for padding.
Tensor counted(const Bags& bags, const Tensor& number, ScalarType dtype) {
  return bagged_indices(bags, number).ne(bags.padding).to(dtype);
}

// Where there is no kernel: a look-up and a sum by bag. The number of bags decides the cost of `max`.
Tensor composed(const Tensor& weight, const Bags& bags) {
  const auto [number, sizes] = numbers_of_bags(bags);
  Tensor rows = embedding(weight, bags.index, bags.padding, bags.by_frequency, bags.sparse);
  if (bags.samples.defined()) rows = rows * bags.samples.unsqueeze(1);
  rows = rows.narrow(0, 0, number.numel());
  const Tensor kept = counted(bags, number, rows.scalar_type());
  const Tensor zero = zeros({bags.count, weight.size(1)}, rows.options());
  if (bags.mode != BagMode::max) {
    if (bags.padding >= 0) rows = rows * kept.unsqueeze(1);
    const Tensor sums = zero.index_add(0, number, rows);
    if (bags.mode == BagMode::sum) return sums;
    const Tensor counts = zeros({bags.count}, rows.options()).index_add(0, number, kept);
    return sums / counts.clamp_min(1).unsqueeze(1);
  }
  std::vector<Tensor> maxima;
  for (int64_t b = 0; b < bags.count; ++b) {
    const Tensor own = logical_and(number.eq(b), kept.ne(0)).nonzero().squeeze(1);
    maxima.push_back(own.numel() ? std::get<0>(rows.index_select(0, own).max(0)) : zero[b]);
  }
  return bags.count ? stack(maxima) : zero;
}

EmbeddingBag call_of(const Tensor& weight_like, const Bags& bags, Tensor& places) {
  EmbeddingBag p;
  p.dtype = weight_like.scalar_type(), p.mode = bags.mode, p.padding = bags.padding, p.bags = bags.count;
  p.rows = weight_like.size(0), p.width = weight_like.size(1);
  p.indices = bags.index.numel(), p.begins = bags.begin.numel();
  p.index = static_cast<const int64_t*>(bags.index.impl().visible_data());
  p.begin = static_cast<const int64_t*>(bags.begin.impl().visible_data());
  if (places.defined()) p.places = static_cast<int64_t*>(places.impl().visible_data());
  return p;
}

// The gradients of weight and samples from public functions, so that they can be differentiated again.
variable_list composed_gradients(const Tensor& g, const Tensor& weight, DimVector sizes, const Bags& bags,
                                 const Tensor& places, bool of_weight, bool of_samples) {
  variable_list out(2);
  if (bags.mode == BagMode::max) {
    const Tensor kept = places.ge(0).to(g.scalar_type());
    out[0] = zeros(sizes, g.options()).scatter_add(0, places.clamp_min(0), g * kept);
    return out;
  }
  const Tensor number = numbers_of_bags(bags).first, index = bagged_indices(bags, number);
  Tensor factor = counted(bags, number, g.scalar_type());
  if (bags.mode == BagMode::mean)
    factor =
        factor / zeros({bags.count}, g.options()).index_add(0, number, factor).clamp_min(1).index_select(0, number);
  const Tensor rows = g.index_select(0, number) * factor.unsqueeze(1);
  if (of_samples) {
    const Tensor own = (rows * weight.index_select(0, index)).sum(1);
    out[1] = cat({own, zeros({bags.index.numel() - own.numel()}, g.options())}, 0);
  }
  if (of_weight) {
    const Tensor scaled = bags.samples.defined() ? rows * bags.samples.narrow(0, 0, number.numel()).unsqueeze(1) : rows;
    out[0] = zeros(sizes, g.options()).index_add(0, index, scaled);
  }
  return out;
}

variable_list gradients(Backward& b, const Tensor& weight, DimVector sizes, const Bags& bags, Tensor places) {
  const bool of_weight = b.needs(0), of_samples = bags.samples.defined() && b.needs(1);
  if (GradMode::is_enabled() || !embedding_bag_backward_kernel.available(b.grad().device()))
    return composed_gradients(b.grad(), weight, sizes, bags, places, of_weight, of_samples);
  const Tensor g = to_contiguous(b.grad());
  variable_list out(2);
  if (of_weight) out[0] = empty(sizes, g.options());
  if (of_samples) out[1] = empty({bags.index.numel()}, g.options());
  EmbeddingBag p = call_of(of_weight ? out[0] : weight, bags, places);
  const Tensor table = of_samples ? to_contiguous(weight) : weight;
  const Tensor samples = bags.samples.defined() ? bags.samples.contiguous() : bags.samples;
  if (of_samples) p.weight = table.impl().raw_data();
  if (samples.defined()) p.samples = samples.impl().visible_data();
  embedding_bag_backward_kernel(g.device())(p, of_weight ? out[0].impl().visible_data() : nullptr,
                                            of_samples ? out[1].impl().visible_data() : nullptr, g.impl().raw_data());
  return out;
}

bool has_kernel(const Tensor& weight, const Bags& bags) {
  if (!embedding_bag_kernel.available(weight.device()) || bags.by_frequency || bags.sparse) return false;
  return !bags.samples.defined() || bags.samples.scalar_type() == weight.scalar_type();
}

}  // namespace

std::pair<Tensor, Tensor> numbers_of_bags(const Bags& bags) {
  const Tensor begin = bags.begin_on_host.defined() ? bags.begin_on_host : bags.begin.to(kCPU);
  const auto* at = begin.data_ptr<int64_t>();
  const auto end_of = [&](int64_t b) { return b + 1 < begin.numel() ? at[b + 1] : bags.index.numel(); };
  const int64_t total = bags.count ? end_of(bags.count - 1) - at[0] : 0;
  const TensorOptions on_host = TensorOptions().dtype(kLong).device(kCPU);
  const Tensor numbers = empty({total}, on_host), sizes = empty({bags.count}, on_host);
  auto *number = numbers.data_ptr<int64_t>(), *size = sizes.data_ptr<int64_t>();
  for (int64_t b = 0; b < bags.count; ++b) {
    size[b] = end_of(b) - at[b];
    number = std::fill_n(number, size[b], b);
  }
  return {numbers.to(bags.index.device()), sizes.to(bags.index.device())};
}

// As a trace sees it.
static Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& begin, const Tensor& samples,
                            int64_t count, int64_t mode, int64_t padding, bool by_frequency, bool sparse) {
  HB_FUNCTION(embedding_bag, weight, index, begin, samples, count, mode, padding, by_frequency, sparse);
  const Bags bags{index, begin, samples, count, static_cast<BagMode>(mode), padding, by_frequency, sparse};
  if (!has_kernel(weight, bags)) return composed(weight, bags);
  const Tensor table = to_contiguous(weight);
  const Tensor factors = samples.defined() ? samples.contiguous() : samples;
  Tensor out = empty({count, weight.size(1)}, weight.options());
  Tensor places = bags.mode == BagMode::max ? empty(out.sizes(), bags.index.options()) : Tensor();
  EmbeddingBag p = call_of(weight, bags, places);
  p.weight = table.impl().raw_data();
  if (factors.defined()) p.samples = factors.impl().visible_data();
  embedding_bag_kernel(weight.device())(p, out.impl().visible_data());
  if (needs_grad(weight, samples)) {
    // The table's values are asked for by the gradient of samples alone.
    const Tensor read = needs_grad(samples) ? weight : Tensor();
    record("EmbeddingBagBackward0", out, {&weight, &samples},
           {SavedTensor::input(read), SavedTensor::input(samples), SavedTensor::input(index), SavedTensor::input(begin),
            SavedTensor::input(places)},
           [sizes = DimVector(weight.sizes()), count, mode = bags.mode, padding](Backward& b, auto& s) {
             return gradients(b, s[0], sizes, {s[2], s[3], s[1], count, mode, padding}, s[4]);
           });
  }
  return out;
}

// Where there is no kernel.
static Tensor composed_rows_of_maxima(const Tensor& weight, const Bags& bags) {
  const Tensor number = numbers_of_bags(bags).first, index = bagged_indices(bags, number);
  std::vector<Tensor> places;
  for (int64_t b = 0; b < bags.count; ++b) {
    const Tensor own = index.index_select(0, logical_and(number.eq(b), index.ne(bags.padding)).nonzero().squeeze(1));
    places.push_back(own.numel() ? own.index_select(0, std::get<1>(weight.index_select(0, own).max(0)))
                                 : zeros({weight.size(1)}, index.options()));
  }
  return places.empty() ? zeros({0, weight.size(1)}, index.options()) : stack(places);
}

Tensor rows_of_maxima(const Tensor& weight, const Bags& bags) {
  NoGradGuard no_grad;
  if (!embedding_bag_kernel.available(weight.device())) return composed_rows_of_maxima(weight, bags);
  const Tensor table = to_contiguous(weight);
  const Tensor values = empty({bags.count, weight.size(1)}, weight.options());
  Tensor places = empty(values.sizes(), bags.index.options());
  EmbeddingBag p = call_of(weight, bags, places);
  p.weight = table.impl().raw_data();
  embedding_bag_kernel(weight.device())(p, values.impl().visible_data());
  return places.clamp_min_(0);
}

Tensor embedding_bag(const Tensor& weight, const Bags& bags) {
  return embedding_bag(weight, bags.index, bags.begin, bags.samples.defined() ? bags.samples : detail::absent,
                       bags.count, static_cast<int64_t>(bags.mode), bags.padding, bags.by_frequency, bags.sparse);
}

}  // namespace hb::ops

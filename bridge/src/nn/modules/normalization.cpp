#include <halfbridge/bridge/distributed/sync_batch_norm.h>
#include <halfbridge/bridge/nn/normalization.h>

#include <ostream>

#include <halfbridge/bridge/nn/init.h>

#include "distributed/batch_statistics.h"
#include "ops/nn/counted_batches.h"

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

template <size_t D, typename Derived, typename Options>
void NormImplBase<D, Derived, Options>::reset() {
  const int64_t n = options.num_features();
  if (options.affine()) {
    weight = this->register_parameter("weight", hb::empty({n}));
    bias = this->register_parameter("bias", hb::empty({n}));
  } else {
    weight = this->register_parameter("weight", Tensor(), /*requires_grad=*/false);
    bias = this->register_parameter("bias", Tensor(), /*requires_grad=*/false);
  }
  const bool track = options.track_running_stats();
  running_mean = this->register_buffer("running_mean", track ? hb::zeros({n}) : Tensor());
  running_var = this->register_buffer("running_var", track ? hb::ones({n}) : Tensor());
  num_batches_tracked = this->register_buffer("num_batches_tracked", track ? hb::zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <size_t D, typename Derived, typename Options>
void NormImplBase<D, Derived, Options>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <size_t D, typename Derived, typename Options>
void NormImplBase<D, Derived, Options>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <size_t D, typename Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input) {
  this->_check_input_dim(input);
  const auto& o = this->options;
  // Hooks see the buffers as they are before the call.
  auto normalise = [&](const Tensor& x) {
    double factor = o.momentum().value_or(0.0);
    const bool training = this->is_training();
    hb::ops::CountedBatches counts_batches;
    if (training && o.track_running_stats() && this->num_batches_tracked.defined()) {
      if (all_ranks || !o.momentum() || !counts_batches.take(this->num_batches_tracked)) this->num_batches_tracked += 1;
      if (!o.momentum()) factor = 1.0 / this->num_batches_tracked.template item<double>();
    }
    if (all_ranks && training)
      return all_ranks->normalise(x, this->weight, this->bias, this->running_mean, this->running_var, factor, o.eps());
    return F::batch_norm(x, this->running_mean, this->running_var,
                         F::BatchNormFuncOptions()
                             .weight(this->weight)
                             .bias(this->bias)
                             .training(training || !o.track_running_stats())
                             .momentum(factor)
                             .eps(o.eps()));
  };
  return this->hooked(normalise, input);
}

template <size_t D, typename Derived>
void BatchNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  stream << std::boolalpha << "torch::nn::BatchNorm" << D << "d(" << o.num_features() << ", eps=" << o.eps()
         << ", momentum=";
  if (o.momentum())
    stream << *o.momentum();
  else
    stream << "None";
  stream << ", affine=" << o.affine() << ", track_running_stats=" << o.track_running_stats() << ")";
}

template <size_t D, typename Derived>
Tensor InstanceNormImpl<D, Derived>::forward(const Tensor& input) {
  this->_check_input_dim(input);
  const auto& o = this->options;
  auto normalise = [&](const Tensor& x) {
    const bool single = x.dim() == static_cast<int64_t>(D) + 1;  // no batch dimension
    Tensor y =
        hb::instance_norm(single ? x.unsqueeze(0) : x, this->weight, this->bias, this->running_mean, this->running_var,
                          this->is_training() || !o.track_running_stats(), o.momentum(), o.eps());
    return single ? y.squeeze(0) : y;
  };
  return this->hooked(normalise, input);
}

template <size_t D, typename Derived>
void InstanceNormImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  stream << std::boolalpha << "torch::nn::InstanceNorm" << D << "d(" << o.num_features() << ", eps=" << o.eps()
         << ", momentum=" << o.momentum() << ", affine=" << o.affine()
         << ", track_running_stats=" << o.track_running_stats() << ")";
}

namespace {
void check_dims(const Tensor& input, int64_t a, int64_t b) {
  if (a == b)
    HB_CHECK(input.dim() == a, "expected ", a, "D input (got ", input.dim(), "D input)");
  else
    HB_CHECK(input.dim() == a || input.dim() == b, "expected ", a, "D or ", b, "D input (got ", input.dim(),
             "D input)");
}
}  // namespace

#define HB_NORM(D, batch_dims)                                                                                \
  template class NormImplBase<D, BatchNorm##D##dImpl, BatchNormOptions>;                                      \
  template class NormImplBase<D, InstanceNorm##D##dImpl, InstanceNormOptions>;                                \
  template class BatchNormImplBase<D, BatchNorm##D##dImpl>;                                                   \
  template class InstanceNormImpl<D, InstanceNorm##D##dImpl>;                                                 \
  void BatchNorm##D##dImpl::_check_input_dim(const Tensor& input) { check_dims(input, batch_dims, (D) + 2); } \
  void InstanceNorm##D##dImpl::_check_input_dim(const Tensor& input) { check_dims(input, (D) + 1, (D) + 2); }
template class NormImplBase<0, SyncBatchNormImpl, BatchNormOptions>;
template class BatchNormImplBase<0, SyncBatchNormImpl>;
HB_NORM(1, 2)
HB_NORM(2, 4)
HB_NORM(3, 5)
#undef HB_NORM

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { LayerNormImpl::reset(); }
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? hb::empty(options.normalized_shape()) : Tensor(), affine);
  bias = register_parameter("bias", affine ? hb::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape())
         << ", eps=" << options.eps() << ", elementwise_affine=" << options.elementwise_affine() << ")";
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  return hooked(
      [this](const Tensor& x) { return hb::layer_norm(x, options.normalized_shape(), weight, bias, options.eps()); },
      input);
}

void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LocalResponseNorm(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}
Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return hooked([this](const Tensor& x) { return F::local_response_norm(x, options); }, input);
}

void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::CrossMapLRN2d(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  auto normalise = [this](const Tensor& x) {
    HB_CHECK(x.dim() == 4, "CrossMapLRN2d expects 4D input, got ", x.sizes());
    const int64_t reach = (options.size() - 1) / 2;
    Tensor squares = hb::pad(x.pow(2).unsqueeze(1), {0, 0, 0, 0, reach, reach});
    Tensor sums = hb::avg_pool3d(squares, {2 * reach + 1, 1, 1}, 1).squeeze(1) *
                  (static_cast<double>(2 * reach + 1) / static_cast<double>(options.size()));
    // PyTorch's running sum keeps the first channel for good.
    const int64_t kept = x.size(1) - reach - 1;
    if (kept > 0) {
      const Tensor first = x.narrow(1, 0, 1).pow(2) / options.size();
      sums = hb::cat({sums.narrow(1, 0, reach + 1), sums.narrow(1, reach + 1, kept) + first}, 1);
    }
    return x * (sums * options.alpha() + options.k()).pow(-options.beta());
  };
  return hooked(normalise, input);
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_) : options(options_) { GroupNormImpl::reset(); }
void GroupNormImpl::reset() {
  const bool affine = options.affine();
  weight = register_parameter("weight", affine ? hb::empty({options.num_channels()}) : Tensor(), affine);
  bias = register_parameter("bias", affine ? hb::empty({options.num_channels()}) : Tensor(), affine);
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
         << ", eps=" << options.eps() << ", affine=" << options.affine() << ")";
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return hooked(
      [this](const Tensor& x) { return hb::group_norm(x, options.num_groups(), weight, bias, options.eps()); }, input);
}

}  // namespace modules
}  // namespace hb::bridge::nn

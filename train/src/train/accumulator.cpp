#include <halfbridge/train/accumulator.h>

#include <cmath>
#include <utility>

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::train {

namespace {

double total_norm(const std::vector<Tensor>& grads) {
  double squares = 0;
  for (const Tensor& g : grads)
    if (g.defined()) squares += std::pow(g.norm().item<double>(), 2);
  return std::sqrt(squares);
}

}  // namespace

Accumulator::Accumulator(bridge::optim::Optimizer& optimizer, int64_t accumulate_step, double clip_norm, bool average)
    : optimizer_(optimizer), accumulate_step_(accumulate_step), clip_norm_(clip_norm), average_(average) {
  HB_CHECK(accumulate_step >= 1, "[Accumulator] expected accumulate_step of at least 1, got ", accumulate_step);
  HB_CHECK(clip_norm >= 0, "[Accumulator] expected a clip_norm of 0 (none) or more, got ", clip_norm);
}

std::vector<Tensor> Accumulator::parameters() const {
  std::vector<Tensor> all;
  for (const auto& group : optimizer_.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

bool Accumulator::operator()(const std::vector<Tensor>& grads) {
  NoGradGuard no_grad;
  const auto params = parameters();
  HB_CHECK(grads.size() == params.size(), "[Accumulator] expected ", params.size(),
           " gradients, one per parameter of the optimizer, got ", grads.size());
  for (size_t i = 0; i < grads.size(); ++i)
    HB_CHECK(!grads[i].defined() || grads[i].sizes() == params[i].sizes(), "[Accumulator] expected gradient ", i,
             " of shape ", params[i].sizes(), ", got ", grads[i].sizes());
  sums_.resize(params.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    const ScalarType dtype = is_half_type(params[i].scalar_type()) ? kFloat : params[i].scalar_type();
    if (sums_[i].defined())
      sums_[i].add_(grads[i]);
    else
      sums_[i] = grads[i].detach().to(dtype, /*non_blocking=*/false, /*copy=*/true);
  }
  ++counter_, ++pending_;
  if (pending_ < accumulate_step_) return false;
  update();
  return true;
}

bool Accumulator::step() {
  std::vector<Tensor> grads;
  for (const Tensor& p : parameters()) grads.push_back(std::exchange(p.mutable_grad(), Tensor()));
  return (*this)(grads);
}

bool Accumulator::flush() {
  if (pending_ == 0) return false;
  update();
  return true;
}

void Accumulator::update() {
  NoGradGuard no_grad;
  if (reducer_) {
    const size_t count = sums_.size();
    sums_ = reducer_(std::move(sums_));
    HB_CHECK(sums_.size() == count, "[grad_reducer] expected ", count, " gradients, one per parameter, got ",
             sums_.size());
  }
  double factor = average_ ? 1.0 / static_cast<double>(pending_) : 1.0;
  if (clip_norm_ > 0) {
    // As clip_grad_norm_; a norm that is not a number makes the gradients so too.
    const double clip = clip_norm_ / (total_norm(sums_) * factor + 1e-6);
    if (!(clip >= 1)) factor *= clip;
  }
  const auto params = parameters();
  std::vector<Tensor> grads = std::move(sums_);
  sums_.assign(params.size(), Tensor());
  pending_ = 0;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    if (factor != 1.0) grads[i].mul_(factor);
    // The library's own optimizers take float32 gradients of half parameters as they are.
    if (!optimizer_.supports_amp_scaling()) grads[i] = grads[i].to(params[i].scalar_type());
  }
  optimizer_.step(grads);
}

void Accumulator::save(bridge::serialize::OutputArchive& archive) const {
  archive.write("counter", IValue(counter_));
  archive.write("pending", IValue(pending_));
  for (size_t i = 0; i < sums_.size(); ++i)
    if (sums_[i].defined()) archive.write("sum" + std::to_string(i), sums_[i]);
}

void Accumulator::load(bridge::serialize::InputArchive& archive) {
  IValue counter, pending;
  archive.read("counter", counter);
  archive.read("pending", pending);
  counter_ = counter.toInt(), pending_ = pending.toInt();
  sums_.assign(parameters().size(), Tensor());
  for (size_t i = 0; i < sums_.size(); ++i) {
    Tensor sum;
    if (archive.try_read("sum" + std::to_string(i), sum)) sums_[i] = sum;
  }
}

}  // namespace hb::train

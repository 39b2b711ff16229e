#include "ops/nn/rnn.h"

#include <atomic>

#include <halfbridge/ops.h>

#include "autograd/composed.h"
#include "backend/copy_pieces.h"
#include "core/cuda_settings.h"
#include "core/recorder.h"

namespace hb::ops {
namespace {

void* address(const Tensor& t) { return t.defined() ? t.impl().visible_data() : nullptr; }

/// A network, and how its device computes it.
struct Recurrence {
  RnnNetwork net;
  RnnPlan plan;
  std::vector<int64_t> batch_sizes;

  size_t states() const { return net.mode == RnnMode::lstm ? 2 : 1; }
  /// Among the inputs.
  size_t first_weight() const { return 1 + states(); }

  /// What is copied between the parameters and the buffer of the weights; undefined ones are left out.
  std::vector<PieceCopy> pieces(const Tensor& buffer, const variable_list& parameters, bool to_buffer) const {
    const auto size = static_cast<int64_t>(element_size(net.dtype));
    std::vector<PieceCopy> list;
    for (const RnnPlan::Run& r : plan.runs) {
      const Tensor& p = parameters[static_cast<size_t>(r.parameter)];
      if (!p.defined()) continue;
      char* const there = static_cast<char*>(address(buffer)) + r.place;
      char* const here = static_cast<char*>(address(p)) + r.first * size;
      list.push_back(to_buffer ? PieceCopy{there, here, r.count} : PieceCopy{here, there, r.count});
    }
    return list;
  }
  void copy_weights(const Tensor& buffer, const variable_list& parameters, bool to_buffer) const {
    copy_pieces_kernel(buffer.device())(element_size(net.dtype), pieces(buffer, parameters, to_buffer));
  }
  Tensor bytes(int64_t count, const Tensor& like) const { return empty({count}, like.options().dtype(kByte)); }

  /// inputs: as rnn() has them; of the weights, `packed` is used.
  variable_list forward(const variable_list& inputs, const Tensor& packed, const Tensor& reserve) const {
    const Tensor& x = inputs[0];
    DimVector sizes = x.impl().sizes();
    sizes.back() = net.directions() * net.out;
    variable_list results{empty(sizes, x.options())};
    for (size_t i = 1; i <= states(); ++i) results.push_back(empty(inputs[i].sizes(), x.options()));
    rnn_forward_kernel(x.device())(
        {net, address(x), address(inputs[1]), states() > 1 ? address(inputs[2]) : nullptr, address(packed),
         address(results[0]), address(results[1]), states() > 1 ? address(results[2]) : nullptr, address(reserve)},
        batch_sizes);
    return results;
  }
};

class RnnNode final : public Node {
 public:
  RnnNode(Recurrence recurrence, RnnFormula formula, std::vector<SavedTensor> saved)
      : r_(std::move(recurrence)), formula_(std::move(formula)), saved_(std::move(saved)) {}
  std::string name() const override { return "CudnnRnnBackward0"; }
  void release_variables() override {
    for (SavedTensor& s : saved_) s.release();
  }
  variable_list apply(variable_list&& grads) override {
    front::Excluded excluded;
    Backward b(*this, grads);
    variable_list inputs;
    for (const SavedTensor& s : saved_) inputs.push_back(s.unpack(*this));
    Tensor reserve = std::move(inputs.back());
    inputs.pop_back();
    const Tensor packed = std::move(inputs.back());
    inputs.pop_back();
    const Tensor y = std::move(inputs.back());
    inputs.pop_back();
    if (GradMode::is_enabled()) return composed(b, inputs, grads);
    for (size_t i = 0; i < r_.first_weight(); ++i) inputs[i] = inputs[i].contiguous();
    // The first pass spends what the forward pass left: a graph that is kept computes that again.
    if (spent_.exchange(true)) {
      reserve = r_.bytes(r_.plan.reserve, y);
      r_.forward(inputs, packed, reserve);
    }
    return gradients(b, inputs, y, packed, reserve, grads);
  }

 private:
  Tensor grad_or_zeros(const variable_list& grads, size_t i) const {
    if (grads[i].defined()) return grads[i].contiguous();
    const auto& of = input_metadata(i);
    return zeros(of.sizes, TensorOptions().dtype(of.dtype).device(of.device));
  }
  variable_list composed(Backward& b, const variable_list& inputs, const variable_list& grads) const {
    variable_list all;
    for (size_t i = 0; i < grads.size(); ++i) all.push_back(grad_or_zeros(grads, i));
    return composed_gradients(b, inputs, all, formula_);
  }
  variable_list gradients(Backward& b, const variable_list& inputs, const Tensor& y, const Tensor& packed,
                          const Tensor& reserve, const variable_list& grads) const {
    const Tensor &x = inputs[0], &h = inputs[1], c = r_.states() > 1 ? inputs[2] : Tensor();
    const Tensor grad_y = grad_or_zeros(grads, 0), grad_h = grads[1].defined() ? grads[1].contiguous() : Tensor();
    const Tensor grad_c = c.defined() && grads[2].defined() ? grads[2].contiguous() : Tensor();
    variable_list out(inputs.size()), parameters(inputs.size() - r_.first_weight());
    out[0] = empty(x.sizes(), x.options());
    for (size_t i = 1; i < r_.first_weight(); ++i)
      if (b.needs(i)) out[i] = empty(inputs[i].sizes(), x.options());
    Tensor grad_weights;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (b.needs(r_.first_weight() + i)) parameters[i] = empty(inputs[r_.first_weight() + i].sizes(), x.options());
    for (const Tensor& p : parameters)
      if (p.defined() && !grad_weights.defined())
        grad_weights = zeros({r_.plan.weights}, x.options().dtype(kByte));  // cuDNN adds to it
    rnn_backward_kernel(x.device())(
        {r_.net, address(x), address(h), address(c), address(y), address(packed), address(grad_y), address(grad_h),
         address(grad_c), address(out[0]), address(out[1]), c.defined() ? address(out[2]) : nullptr,
         address(grad_weights), address(reserve)},
        r_.batch_sizes);
    if (grad_weights.defined()) r_.copy_weights(grad_weights, parameters, /*to_buffer=*/false);
    std::move(parameters.begin(), parameters.end(), out.begin() + static_cast<std::ptrdiff_t>(r_.first_weight()));
    return out;
  }

  const Recurrence r_;
  const RnnFormula formula_;
  std::vector<SavedTensor> saved_;  // the inputs, y, the packed weights and what the forward pass left
  std::atomic<bool> spent_{false};
};

}  // namespace

bool has_rnn(const Device& device) {
  return device.is_cuda() && cuda_settings().cudnn_enabled.load(std::memory_order_relaxed) &&
         plan_rnn.load(std::memory_order_acquire) != nullptr;
}

std::optional<variable_list> rnn(RnnNetwork net, const variable_list& given, const std::vector<int64_t>& batch_sizes,
                                 RnnFormula formula) {
  net.trained = needs_grad_list(given);
  Recurrence r{net, {}, batch_sizes};
  const Device device = given[0].device();
  if (!has_rnn(device) || !plan_rnn.load(std::memory_order_acquire)(device, net, batch_sizes, r.plan)) return {};
  variable_list inputs, results;
  Tensor packed, reserve;
  {
    NoGradGuard no_history;
    for (const Tensor& t : given) capture::uses(t), inputs.push_back(t.contiguous());
    packed = r.bytes(r.plan.weights, inputs[0]);
    r.copy_weights(packed, variable_list(inputs.begin() + static_cast<std::ptrdiff_t>(r.first_weight()), inputs.end()),
                   /*to_buffer=*/true);
    if (net.trained) reserve = r.bytes(r.plan.reserve, inputs[0]);
    results = r.forward(inputs, packed, reserve);
  }
  if (!net.trained) return results;
  std::vector<SavedTensor> saved;
  std::vector<const Tensor*> sources;
  for (const Tensor& t : given) saved.push_back(SavedTensor::input(t)), sources.push_back(&t);
  saved.push_back(SavedTensor::output(results[0]));
  saved.push_back(SavedTensor::input(packed)), saved.push_back(SavedTensor::input(reserve));
  std::vector<Tensor*> made;
  for (Tensor& t : results) made.push_back(&t);
  const auto node = std::make_shared<RnnNode>(std::move(r), std::move(formula), std::move(saved));
  detail::collect_edges(*node, sources);
  detail::attach_all(node, made);
  return results;
}

}  // namespace hb::ops

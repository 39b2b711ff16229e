#include "legacy.h"

#include <typeinfo>

#include <halfbridge/bridge/optim/adagrad.h>
#include <halfbridge/bridge/optim/adam.h>
#include <halfbridge/bridge/optim/lbfgs.h>
#include <halfbridge/bridge/optim/rmsprop.h>
#include <halfbridge/bridge/optim/sgd.h>
#include <halfbridge/error.h>

namespace hb::bridge::optim::detail {
namespace {

using Tensors = std::vector<Tensor>;

Tensors read_list(serialize::InputArchive& archive, const std::string& key) {
  Tensor size;
  archive.read(key + "/size", size);
  Tensors list;
  for (int64_t i = 0, n = size.item<int64_t>(); i < n; ++i) {
    Tensor one;  // a new one each time: reading into a tensor writes into its memory
    archive.read(key + "/" + std::to_string(i), one, /*is_buffer=*/true);
    list.push_back(one);
  }
  return list;
}

Tensor at(const Tensors& list, size_t i) { return i < list.size() ? list[i] : Tensor(); }

// Gives the parameters, in order, a state each, as many as `fill` says.
template <class State>
void fill_states(Optimizer& optimizer, size_t count, const std::function<void(State&, size_t)>& fill) {
  HB_CHECK(!optimizer.param_groups().empty(), "[Optimizer::load] expected a parameter group, got none");
  const auto& params = optimizer.param_groups()[0].params();
  HB_CHECK(count <= params.size(), "[Optimizer::load] expected buffers of at most ", params.size(),
           " parameters, got buffers of ", count);
  std::vector<std::unique_ptr<State>> states;
  for (size_t i = 0; i < count; ++i) fill(*states.emplace_back(std::make_unique<State>()), i);
  for (size_t i = 0; i < count; ++i) optimizer.state()[params[i].unsafeGetTensorImpl()] = std::move(states[i]);
}

void load_sgd(serialize::InputArchive& archive, Optimizer& optimizer) {
  const Tensors momentum = read_list(archive, "momentum_buffers");
  fill_states<SGDParamState>(optimizer, momentum.size(),
                             [&](SGDParamState& s, size_t i) { s.momentum_buffer(momentum[i]); });
}

void load_adagrad(serialize::InputArchive& archive, Optimizer& optimizer) {
  const Tensors sum = read_list(archive, "sum_buffers"), step = read_list(archive, "step_buffers");
  fill_states<AdagradParamState>(optimizer, sum.size(), [&](AdagradParamState& s, size_t i) {
    s.sum(sum[i]);
    if (i < step.size()) s.step(step[i].item<int64_t>());
  });
}

template <class State>
void load_adam(serialize::InputArchive& archive, Optimizer& optimizer) {
  const Tensors step = read_list(archive, "step_buffers"), mean = read_list(archive, "exp_average_buffers"),
                square = read_list(archive, "exp_average_sq_buffers"),
                largest = read_list(archive, "max_exp_average_sq_buffers");
  fill_states<State>(optimizer, mean.size(), [&](State& s, size_t i) {
    if (i < step.size()) s.step(step[i].item<int64_t>());
    s.exp_avg(mean[i]), s.exp_avg_sq(at(square, i)), s.max_exp_avg_sq(at(largest, i));
  });
}

void load_rmsprop(serialize::InputArchive& archive, Optimizer& optimizer) {
  const Tensors square = read_list(archive, "square_average_buffers"),
                momentum = read_list(archive, "momentum_buffers"), mean = read_list(archive, "grad_average_buffers");
  fill_states<RMSpropParamState>(optimizer, square.size(), [&](RMSpropParamState& s, size_t i) {
    s.square_avg(square[i]), s.momentum_buffer(at(momentum, i)), s.grad_avg(at(mean, i));
  });
}

void load_lbfgs(serialize::InputArchive& archive, Optimizer& optimizer) {
  Tensor d, t, diagonal, gradient, loss;
  archive.read("d", d, /*is_buffer=*/true);
  archive.read("t", t, /*is_buffer=*/true);
  archive.read("H_diag", diagonal, /*is_buffer=*/true);
  archive.read("prev_flat_grad", gradient, /*is_buffer=*/true);
  archive.read("prev_loss", loss, /*is_buffer=*/true);
  const Tensors dirs = read_list(archive, "old_dirs"), steps = read_list(archive, "old_stps");
  fill_states<LBFGSParamState>(optimizer, 1, [&](LBFGSParamState& s, size_t) {
    s.d(d), s.t(t.item<double>()), s.H_diag(diagonal), s.prev_flat_grad(gradient), s.prev_loss(loss.item<double>());
    s.old_dirs().assign(dirs.begin(), dirs.end());
    s.old_stps().assign(steps.begin(), steps.end());
  });
}

}  // namespace

void load_legacy(serialize::InputArchive& archive, Optimizer& optimizer, StateFactory new_state) {
  const auto state = new_state();
  const auto is = [&](const std::type_info& type) { return typeid(*state) == type; };
  const auto warn = [](const char* name, const char* lost = "") {
    hb::detail::warn(
        hb::detail::str("Your serialized ", name, " optimizer is still using the old serialization format. ", lost,
                        "You should re-save your ", name, " optimizer to use the new serialization format."));
  };
  if (is(typeid(SGDParamState))) return warn("SGD"), load_sgd(archive, optimizer);
  if (is(typeid(AdagradParamState))) return warn("Adagrad"), load_adagrad(archive, optimizer);
  if (is(typeid(AdamParamState))) return warn("Adam"), load_adam<AdamParamState>(archive, optimizer);
  if (is(typeid(AdamWParamState))) return warn("AdamW"), load_adam<AdamWParamState>(archive, optimizer);
  if (is(typeid(RMSpropParamState)))
    return warn("RMSprop", "It has no numbers of steps. "), load_rmsprop(archive, optimizer);
  if (is(typeid(LBFGSParamState))) return warn("LBFGS", "It has no counts of steps. "), load_lbfgs(archive, optimizer);
  HB_CHECK(false, "[Optimizer::load] expected a 'pytorch_version' in the archive, got none");
}

}  // namespace hb::bridge::optim::detail

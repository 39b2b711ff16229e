// What a program keeps instead of saved tensors.
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <memory>

#include "parity/bad.h"

using torch::Tensor;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

namespace {

struct Calls {
  int packed = 0, unpacked = 0;
};

// Keeps a half of the tensor in f64.
struct Halved : torch::autograd::SavedVariableHooks {
  explicit Halved(Calls& calls) : calls_(calls) {}
  void call_pack_hook(const Tensor& tensor) override {
    ++calls_.packed;
    with_gradient = tensor.requires_grad();
    kept_ = tensor.to(torch::kDouble) / 2;
    dtype_ = tensor.scalar_type();
  }
  Tensor call_unpack_hook() override {
    ++calls_.unpacked;
    return (kept_ * 2).to(dtype_);
  }
  bool with_gradient = false;

 private:
  Calls& calls_;
  Tensor kept_;
  torch::Dtype dtype_ = torch::kFloat;
};

struct Spoils : torch::autograd::SavedVariableHooks {
  void call_pack_hook(const Tensor& tensor) override { Tensor(tensor).mul_(2); }
  Tensor call_unpack_hook() override { return {}; }
};

struct CubeBackward : Node {
  variable_list apply(variable_list&& grads) override { return {grads[0] * 3 * x.unpack().pow(2)}; }
  void release_variables() override { x.reset_data(); }
  SavedVariable x;
};
struct ExpBackward : Node {
  variable_list apply(variable_list&& grads) override { return {grads[0] * y.unpack(shared_from_this())}; }
  void release_variables() override { y.reset_data(); }
  SavedVariable y;
};

Tensor cube(const Tensor& x, Calls& calls) {
  auto node = std::shared_ptr<CubeBackward>(new CubeBackward(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  node->x = SavedVariable(x, false);
  node->x.register_hooks(std::make_unique<Halved>(calls));
  Tensor y;
  {
    torch::NoGradGuard no_grad;
    y = x.pow(3);
  }
  torch::autograd::set_history(y, node);
  return y;
}

Tensor exponential(const Tensor& x, Calls& calls) {
  auto node = std::shared_ptr<ExpBackward>(new ExpBackward(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  Tensor y;
  {
    torch::NoGradGuard no_grad;
    y = x.exp();
  }
  torch::autograd::set_history(y, node);
  node->y = SavedVariable(y, true);
  node->y.register_hooks(std::make_unique<Halved>(calls));
  return y;
}

void gradients(parity::Case& c, const char* name, const Tensor& x, Tensor (*function)(const Tensor&, Calls&)) {
  c.scope(name, [&] {
    Calls calls;
    const Tensor y = function(x, calls);
    c.out("y", y);
    c.value("packed", calls.packed);
    const Tensor g = torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
    c.out("first", g);
    c.value("unpacked", calls.unpacked);
    c.out("second", torch::autograd::grad({g.sum()}, {x})[0]);
    c.value("unpacked again", calls.unpacked);
  });
}

}  // namespace

PARITY_CASE(saved_hooks, gradients) {
  const auto leaf = c.leaf({4});
  gradients(c, "of a leaf", leaf, cube);
  gradients(c, "of a result", leaf * 2, cube);
  gradients(c, "of its own result", leaf, exponential);
}

PARITY_CASE(saved_hooks, of_one_variable) {
  const auto x = c.leaf({3});
  Calls calls;
  SavedVariable saved(x, false);
  c.value("none yet", saved.has_hooks());
  auto hooks = std::make_unique<Halved>(calls);
  const Halved& shown = *hooks;
  saved.register_hooks(std::move(hooks));
  c.value("registered", saved.has_hooks());
  c.value("the hook sees history", shown.with_gradient);
  const Tensor back = saved.unpack();
  c.out("unpacked", back.detach());
  c.value("is leaf", back.is_leaf());
  c.value("requires grad", back.requires_grad());
  back.sum().backward();
  c.out("to the leaf that was saved", x.grad());
  {
    torch::NoGradGuard no_grad;
    x.add_(1);
  }
  c.out("changes in place are not seen", saved.unpack().detach());
  SavedVariable plain(c.randn({2}), false);
  plain.register_hooks(std::make_unique<Halved>(calls));
  c.value("of no gradient", plain.unpack().requires_grad());
  saved.reset_data();
  c.value("after reset", saved.has_hooks());
}

PARITY_CASE(saved_hooks, used_wrongly) {
  Calls calls;
  SavedVariable twice(c.randn({2}), false), freed(c.randn({2}), false), spoilt(c.randn({2}), false), none;
  twice.register_hooks(std::make_unique<Halved>(calls));
  freed.reset_data();
  SAYS("whose hooks have already been set", twice.register_hooks(std::make_unique<Halved>(calls)));
  SAYS("on a saved tensor after it has been freed", freed.register_hooks(std::make_unique<Halved>(calls)));
  SAYS("with value None is forbidden", none.register_hooks(std::make_unique<Halved>(calls)));
  SAYS("pack hook is modifying its input in place", spoilt.register_hooks(std::make_unique<Spoils>()));
}

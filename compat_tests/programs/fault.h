// Faults for the tests of the layer comparison: `--fault KIND:PATH` spoils one layer of Halfbridge's build, as a port
// that went wrong would have it.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

namespace run {

#ifdef HB_API

namespace faults {

namespace nn = torch::nn;
using torch::Tensor;

inline Tensor parameter(nn::Module& layer, const std::string& name) {
  const auto parameters = layer.named_parameters(false);
  const Tensor* p = parameters.find(name);
  if (!p) throw std::invalid_argument("--fault: the layer has no " + name);
  return p->data();
}

/// Calls change(options) if the layer is one of these classes.
template <class... Impl, class F>
void options_of(nn::Module& layer, const F& change) {
  bool found = false;
  (([&] {
     if (auto* m = layer.as<Impl>()) change(m->options), found = true;
   }()),
   ...);
  if (!found) throw std::invalid_argument("--fault: not for a " + layer.name());
}

/// Parameters of the next layer of the same shapes.
inline void shift_keys(nn::Module& net, nn::Module& layer) {
  bool passed = false;
  for (const auto& other : net.modules(false)) {
    if (other.get() == &layer) passed = true;
    if (!passed || other.get() == &layer || other->name() != layer.name()) continue;
    const auto from = other->named_parameters(false), to = layer.named_parameters(false);
    bool fits = from.size() == to.size();
    for (const auto& item : to)
      fits = fits && from.contains(item.key()) && from[item.key()].sizes() == item.value().sizes();
    if (!fits) continue;
    for (const auto& item : to) item.value().data().copy_(from[item.key()].data());
    return;
  }
  throw std::invalid_argument("--fault: no later layer is like this one");
}

inline void rewrite_outputs(nn::Module& layer, Tensor (*change)(const Tensor&)) {
  layer.register_forward_hook([change](nn::Module&, const std::vector<Tensor>&, const std::vector<Tensor>& outputs) {
    return change(outputs.at(0));
  });
}
inline void rewrite_inputs(nn::Module& layer, Tensor (*change)(const Tensor&)) {
  layer.register_forward_pre_hook(
      [change](nn::Module&, const std::vector<Tensor>& inputs) { return change(inputs.at(0)); });
}

using Fault = std::function<void(nn::Module& net, nn::Module& layer)>;
inline const std::map<std::string, Fault>& kinds() {
  using Net = nn::Module&;
  using Layer = nn::Module&;
  static const std::map<std::string, Fault> all = {
      {"eps",
       [](Net, Layer l) { options_of<nn::BatchNorm2dImpl, nn::LayerNormImpl>(l, [](auto& o) { o.eps(1e-2); }); }},
      {"momentum", [](Net, Layer l) { options_of<nn::BatchNorm2dImpl>(l, [](auto& o) { o.momentum(0.9); }); }},
      {"eval",
       [](Net, Layer l) { l.register_forward_pre_hook([](nn::Module& m, const std::vector<Tensor>&) { m.eval(); }); }},
      {"padding_mode",
       [](Net, Layer l) { options_of<nn::Conv2dImpl>(l, [](auto& o) { o.padding_mode(torch::kReflect); }); }},
      {"padding", [](Net, Layer l) { options_of<nn::Conv2dImpl>(l, [](auto& o) { o.dilation(2), o.padding(2); }); }},
      {"slope", [](Net, Layer l) { options_of<nn::LeakyReLUImpl>(l, [](auto& o) { o.negative_slope(0.01); }); }},
      {"transposed",
       [](Net, Layer l) {
         Tensor w = parameter(l, "weight");
         w.copy_(w.t().clone());
       }},
      {"permuted",
       [](Net, Layer l) {
         Tensor w = parameter(l, "weight");
         w.copy_(w.flip(0));
       }},
      {"no_bias", [](Net, Layer l) { parameter(l, "bias").zero_(); }},
      {"gain", [](Net, Layer l) { parameter(l, "weight").mul_(1.05); }},
      {"shifted", [](Net n, Layer l) { shift_keys(n, l); }},
      {"input_scale", [](Net, Layer l) { rewrite_inputs(l, [](const Tensor& x) { return x * 255; }); }},
      {"activation", [](Net, Layer l) { rewrite_outputs(l, [](const Tensor& y) { return torch::relu(y); }); }},
      {"detached", [](Net, Layer l) { rewrite_outputs(l, [](const Tensor& y) { return y.detach(); }); }},
      {"doubled_gradient",
       [](Net, Layer l) {
         for (auto& p : l.parameters(false)) p.register_hook([](const Tensor& g) { return g * 2; });
       }},
  };
  return all;
}

}  // namespace faults

/// Puts the fault of `--fault KIND:PATH` into the first of these networks that has the path.
inline void fault(const std::string& what, std::initializer_list<torch::nn::Module*> nets) {
  if (what.empty()) return;
  const size_t colon = what.find(':');
  const auto kind = faults::kinds().find(what.substr(0, colon));
  if (colon == std::string::npos || kind == faults::kinds().end())
    throw std::invalid_argument("--fault: expected KIND:PATH, got " + what);
  const std::string path = what.substr(colon + 1);
  for (torch::nn::Module* net : nets) {
    const auto modules = net->named_modules("", false);
    if (const auto* layer = modules.find(path)) return torch::NoGradGuard(), kind->second(*net, **layer);
  }
  throw std::invalid_argument("--fault: no module " + path);
}

#else

inline void fault(const std::string& what, std::initializer_list<torch::nn::Module*>) {
  if (!what.empty()) throw std::invalid_argument("--fault is for Halfbridge's build");
}

#endif

}  // namespace run

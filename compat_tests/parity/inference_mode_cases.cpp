// Tensors made in one mode, viewed in another, changed or used in a third: what throws, and why.
#include <array>
#include <functional>

#include "parity/case.h"

using torch::Tensor;

namespace {

enum Mode { kNormal, kNoGrad, kInference };
constexpr std::array<const char*, 3> kModes{"normal", "no_grad", "inference"};

template <class F>
auto in_mode(int mode, const F& f) {
  if (mode == kNoGrad) {
    torch::NoGradGuard guard;
    return f();
  }
  if (mode == kInference) {
    c10::InferenceMode guard;
    return f();
  }
  return f();
}

// The phrase by which a program would know the error, or what `f` returns.
std::string outcome(const std::function<std::string()>& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    const std::string text = e.what();
    for (const char* phrase :
         {"Inplace update to inference tensor outside InferenceMode is not allowed.", "A view was created in",
          "a view of a leaf Variable that requires grad", "a leaf Variable that requires grad",
          "Inference tensors cannot be saved for backward", "does not require grad and does not have a grad_fn"})
      if (text.find(phrase) != std::string::npos) return phrase;
    return "another error";
  }
}

std::string state(const Tensor& t) {
  std::string s = t.is_inference() ? "inference" : "normal " + std::to_string(t._version());
  return s + (t.requires_grad() ? " requires_grad" : "") + (t.grad_fn() ? " " + t.grad_fn()->name() : "");
}

struct Made {
  const char* name;
  std::function<Tensor()> make;
};
struct Seen {
  const char* name;
  std::function<Tensor(const Tensor&)> view;
};
struct Used {
  const char* name;
  std::function<std::string(Tensor& base, Tensor& view)> use;
};

// Everything in every mode.
void sweep(parity::Case& c, const std::vector<Used>& uses) {
  const std::vector<Made> made{{"plain",
                                [] {
                                  return torch::ones({2, 2});
                                }},
                               {"leaf",
                                [] {
                                  return torch::ones({2, 2}).requires_grad_();
                                }},
                               {"result", [] {
                                  return torch::ones({2, 2}).requires_grad_() * 2;
                                }}};
  const std::vector<Seen> seen{{"itself", [](const Tensor& t) { return t; }},
                               {"view", [](const Tensor& t) { return t.view({4}); }},
                               {"view_of_view", [](const Tensor& t) {
                                  return t.view({4}).view({2, 2});
                                }}};
  for (int m = 0; m < 3; ++m)
    for (const Made& maker : made) {
      if (m == kInference && std::string(maker.name) == "leaf") continue;
      for (int v = 0; v < 3; ++v)
        for (const Seen& see : seen)
          for (int u = 0; u < 3; ++u)
            for (const Used& used : uses)
              c.text(std::string(kModes[m]) + " " + maker.name + "/" + kModes[v] + " " + see.name + "/" + kModes[u] +
                         " " + used.name,
                     outcome([&] {
                       Tensor base = in_mode(m, maker.make);
                       Tensor view = in_mode(v, [&] { return see.view(base); });
                       return in_mode(u, [&] { return used.use(base, view); });
                     }));
    }
}

}  // namespace

PARITY_CASE(inference_mode, changed_in_place) {
  sweep(c, {{"mul_", [](Tensor&, Tensor& v) { return state(v.mul_(2)); }},
            {"mul_tracked", [](Tensor&, Tensor& v) { return state(v.mul_(torch::ones({1}).requires_grad_())); }},
            {"copy_", [](Tensor&, Tensor& v) { return v.copy_(torch::ones({1})), std::string("copied"); }},
            {"base", [](Tensor& b, Tensor& v) { return b.mul_(2), state(v); }}});
}

PARITY_CASE(inference_mode, used) {
  const auto tracked = [] { return torch::ones({1}).requires_grad_(); };
  sweep(c, {{"function", [](Tensor&, Tensor& v) { return state(v.exp()); }},
            {"saved", [=](Tensor&, Tensor& v) { return state(v * tracked()); }},
            {"not_saved", [=](Tensor&, Tensor& v) { return state(v + tracked()); }},
            {"detach",
             [](Tensor&, Tensor& v) { return std::string(v.detach().is_inference() ? "inference" : "normal"); }}});
}

PARITY_CASE(inference_mode, detached_in_place) {
  auto leaf = c.leaf({3});
  auto result = leaf * 2;
  const c10::InferenceMode guard;
  leaf.detach_(), result.detach_();
  c.text("leaf", state(leaf));
  c.text("result", state(result));
  torch::nn::Linear net(2, 2);
  net->weight.detach_();
  c.value("parameter", net->weight.requires_grad());
}

PARITY_CASE(inference_mode, small_print) {
  auto x = c.leaf({3});
  c.throws("no_inputs", [&] { x.sum().backward({}, false, false, std::vector<Tensor>{}); });
  {
    torch::NoGradGuard guard;
    auto w = c.leaf({2, 3});
    w.t_();
    c.check(w.is_leaf() && w.requires_grad(), "a parameter stays one when it is transposed in no_grad mode");
  }
}

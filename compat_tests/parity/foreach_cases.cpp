// Functions of lists of tensors, and the steps of optimizers that take lists.
#include <vector>

#include "parity/bad.h"
#include "parity/case.h"

namespace {
using torch::Tensor;
using Tensors = std::vector<Tensor>;

Tensors list(parity::Case& c, torch::Dtype dtype, double low = 0.1, double high = 0.9) {
  return {c.rand({3, 4}, dtype, low, high), c.rand({5}, dtype, low, high),
          c.rand({2, 1, 3}, dtype, low, high).transpose(0, 2), c.rand({}, dtype, low, high),
          c.rand({0, 2}, dtype, low, high)};
}
Tensors copies(const Tensors& tensors) {
  Tensors all;
  for (const Tensor& t : tensors) all.push_back(t.clone());
  return all;
}
void out(parity::Case& c, const std::string& name, const Tensors& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) c.out(name + "." + std::to_string(i), tensors[i]);
}

// A function and its form in place.
template <class F, class InPlace>
void both(parity::Case& c, const std::string& name, const Tensors& self, const F& function, const InPlace& in_place) {
  out(c, name, function(self));
  const Tensors changed = copies(self);
  in_place(changed);
  out(c, name + "_", changed);
}
#define BOTH(name, ...)                                                                        \
  both(                                                                                        \
      c, #name, self, [&](const Tensors& s) { return torch::_foreach_##name(s __VA_ARGS__); }, \
      [&](const Tensors& s) { torch::_foreach_##name##_(s __VA_ARGS__); })
#define ARGS(...) , __VA_ARGS__

const std::vector<torch::Scalar> kNumbers = {2, 0.5, -1.5, 3, 1};
}  // namespace

PARITY_CASE(foreach, unary) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kBFloat16}, [&](torch::Dtype dtype) {
    const Tensors self = list(c, dtype);
    BOTH(abs, ), BOTH(acos, ), BOTH(asin, ), BOTH(atan, ), BOTH(ceil, ), BOTH(cos, ), BOTH(cosh, ), BOTH(erf, );
    BOTH(erfc, ), BOTH(exp, ), BOTH(expm1, ), BOTH(floor, ), BOTH(frac, ), BOTH(lgamma, ), BOTH(log, ), BOTH(log10, );
    BOTH(log1p, ), BOTH(log2, ), BOTH(neg, ), BOTH(reciprocal, ), BOTH(round, ), BOTH(rsqrt, ), BOTH(sigmoid, );
    BOTH(sign, ), BOTH(sin, ), BOTH(sinh, ), BOTH(sqrt, ), BOTH(tan, ), BOTH(tanh, ), BOTH(trunc, ), BOTH(zero, );
  });
}

PARITY_CASE(foreach, numbers) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kHalf}, [&](torch::Dtype dtype) {
    const Tensors self = list(c, dtype);
    BOTH(add, ARGS(1.5)), BOTH(sub, ARGS(1.5)), BOTH(mul, ARGS(1.5)), BOTH(div, ARGS(1.5)), BOTH(pow, ARGS(2.5));
    BOTH(clamp_min, ARGS(0.4)), BOTH(clamp_max, ARGS(0.4)), BOTH(maximum, ARGS(0.4)), BOTH(minimum, ARGS(0.4));
    c.scope("each", [&] {
      BOTH(add, ARGS(kNumbers)), BOTH(sub, ARGS(kNumbers)), BOTH(mul, ARGS(kNumbers)), BOTH(div, ARGS(kNumbers));
      BOTH(pow, ARGS(kNumbers)), BOTH(clamp_min, ARGS(kNumbers)), BOTH(clamp_max, ARGS(kNumbers));
      BOTH(maximum, ARGS(kNumbers)), BOTH(minimum, ARGS(kNumbers));
    });
    c.scope("tensor", [&] {
      const Tensor number = torch::tensor(1.5, dtype);
      BOTH(add, ARGS(number)), BOTH(add, ARGS(number, 0.5)), BOTH(mul, ARGS(number)), BOTH(div, ARGS(number));
    });
    out(c, "number_pow", torch::_foreach_pow(2, self));
  });
  const Tensors self = {c.randint(-5, 5, {3, 4}, torch::kLong), c.randint(-5, 5, {2}, torch::kInt)};
  c.scope("integers", [&] {
    BOTH(add, ARGS(3)), BOTH(sub, ARGS(3)), BOTH(mul, ARGS(3)), BOTH(clamp_min, ARGS(1)), BOTH(abs, ), BOTH(neg, );
    out(c, "div", torch::_foreach_div(self, 2)), out(c, "exp", torch::_foreach_exp(self));
    out(c, "add_half", torch::_foreach_add(self, 0.5));
  });
}

PARITY_CASE(foreach, lists) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kBFloat16}, [&](torch::Dtype dtype) {
    const Tensors self = list(c, dtype), other = list(c, dtype), third = list(c, dtype);
    BOTH(add, ARGS(other)), BOTH(sub, ARGS(other)), BOTH(mul, ARGS(other)), BOTH(div, ARGS(other));
    BOTH(pow, ARGS(other)), BOTH(clamp_min, ARGS(other)), BOTH(clamp_max, ARGS(other)), BOTH(maximum, ARGS(other));
    BOTH(minimum, ARGS(other)), BOTH(copy, ARGS(other)), BOTH(lerp, ARGS(other, third)), BOTH(lerp, ARGS(other, 0.25));
    BOTH(addcmul, ARGS(other, third)), BOTH(addcdiv, ARGS(other, third));
    c.scope("alpha", [&] {
      BOTH(add, ARGS(other, 0.5)), BOTH(sub, ARGS(other, 0.5)), BOTH(addcmul, ARGS(other, third, -0.5));
      BOTH(addcdiv, ARGS(other, third, -0.5));
    });
    c.scope("each", [&] {
      const Tensor numbers = torch::tensor({2., 0.5, -1.5, 3., 1.}, torch::kCPU);
      BOTH(addcmul, ARGS(other, third, kNumbers)), BOTH(addcdiv, ARGS(other, third, kNumbers));
      BOTH(addcmul, ARGS(other, third, numbers)), BOTH(addcdiv, ARGS(other, third, numbers));
      BOTH(lerp, ARGS(other, kNumbers));
    });
  });
}

PARITY_CASE(foreach, reductions) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kBFloat16}, [&](torch::Dtype dtype) {
    Tensors self = list(c, dtype, -1, 1);
    self.pop_back();
    out(c, "max", torch::_foreach_max(self)), out(c, "norm", torch::_foreach_norm(self));
    out(c, "norm1", torch::_foreach_norm(self, 1)), out(c, "norm_inf", torch::_foreach_norm(self, INFINITY));
    out(c, "norm_double", torch::_foreach_norm(self, 2, torch::kDouble));
    out(c, "powsum", torch::_foreach_powsum(self)), out(c, "powsum3", torch::_foreach_powsum(self, 3));
  });
}

PARITY_CASE(foreach, gradients) {
  const Tensor a = c.leaf({3, 2}, torch::kDouble), b = c.leaf({4}, torch::kDouble);
  const Tensors other = {c.rand({3, 2}, torch::kDouble, 0.5, 1), c.rand({4}, torch::kDouble, 0.5, 1)};
  c.gradients("norm", {a, b}, [&] {
    const auto products = torch::_foreach_mul(torch::_foreach_tanh({a, b}), other);
    return torch::stack(torch::_foreach_norm(torch::_foreach_addcdiv(products, other, {a.exp(), b.exp()}, 0.5)));
  });
  c.gradients("lerp", {a, b}, [&] {
    const auto mixed = torch::_foreach_lerp({a, b}, other, 0.25);
    return torch::cat({mixed[0].flatten(), mixed[1]});
  });
}

PARITY_CASE(foreach, errors) {
  const Tensors two = {c.randn({2}), c.randn({3})}, one = {c.randn({2})};
  const std::vector<torch::Scalar> three = {1, 2, 3};
  SAYS("Tensor list must have at least one tensor.", torch::_foreach_abs(Tensors{}));
  SAYS("Tensor list must have at least one tensor.", torch::_foreach_add_(Tensors{}, 1));
  SAYS("Tensor lists must have the same number of tensors, got 2 and 1", torch::_foreach_add(two, one));
  SAYS("Tensor lists must have the same number of tensors, got 2 and 1", torch::_foreach_addcmul_(two, two, one));
  SAYS("Tensor list must have same number of elements as scalar list.", torch::_foreach_mul_(two, three));
  SAYS("scalar tensor expected to be 0 dim but it has 1 dimensions", torch::_foreach_mul_(two, c.randn({1})));
  SAYS("Expected packed scalar Tensor to be of dimension 1",
       torch::_foreach_addcdiv(two, two, two, c.randn({2, 1}).cpu()));
  SAYS("Expected length of scalars to match input of length 2 but got 3 instead.",
       torch::_foreach_addcdiv(two, two, two, c.randn({3}).cpu()));
  SAYS("cannot compute the infinity norm on an empty tensor", torch::_foreach_norm({torch::empty({0})}, INFINITY));
  SAYS("must match", torch::_foreach_add(two, Tensors{c.randn({5}), c.randn({3})}));
}

namespace {
/// What a step takes: parameters, gradients and states of one dtype.
struct Lists {
  Tensors params, grads, first, second, largest, steps;
  Lists(parity::Case& c, torch::Dtype dtype) {
    for (const auto& shape : {std::vector<int64_t>{17, 5}, {9}, {}}) {
      params.push_back(c.randn(shape, dtype)), grads.push_back(c.randn(shape, dtype));
      first.push_back(torch::zeros(shape, dtype)), second.push_back(torch::zeros(shape, dtype));
      largest.push_back(torch::zeros(shape, dtype)), steps.push_back(torch::zeros({}));
    }
  }
  template <class F>
  void three_steps(parity::Case& c, const std::string& name, const F& step) {
    for (int i = 0; i < 3; ++i) {
      torch::_foreach_add_(steps, 1);
      step();
      torch::_foreach_mul_(grads, -0.75);
    }
    out(c, name + ".params", params), out(c, name + ".first", first), out(c, name + ".second", second);
    out(c, name + ".largest", largest), out(c, name + ".grads", grads), out(c, name + ".steps", steps);
  }
};
}  // namespace

PARITY_CASE(foreach, fused_adam) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    for (const bool amsgrad : {false, true})
      for (const double decay : {0.0, 0.1})
        for (const bool maximize : {false, true}) {
          const std::string name =
              std::string(amsgrad ? "amsgrad" : "plain") + (decay != 0 ? ".decay" : "") + (maximize ? ".maximize" : "");
          Lists adam(c, dtype), adamw(c, dtype);
          adam.three_steps(c, "adam." + name, [&] {
            torch::_fused_adam_(adam.params, adam.grads, adam.first, adam.second, amsgrad ? adam.largest : Tensors{},
                                adam.steps, 0.1, 0.8, 0.95, decay, 1e-8, amsgrad, maximize);
          });
          adamw.three_steps(c, "adamw." + name, [&] {
            torch::_fused_adamw_(adamw.params, adamw.grads, adamw.first, adamw.second,
                                 amsgrad ? adamw.largest : Tensors{}, adamw.steps, torch::tensor(0.1, torch::kDouble),
                                 0.8, 0.95, decay, 1e-8, amsgrad, maximize);
          });
        }
  });
}

PARITY_CASE(foreach, fused_others) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    for (const double momentum : {0.0, 0.9})
      for (const bool nesterov : {false, true}) {
        if (nesterov && momentum == 0) continue;
        Lists sgd(c, dtype);
        int step = 0;
        sgd.three_steps(c, "sgd." + std::to_string(momentum) + (nesterov ? ".nesterov" : ""), [&] {
          torch::_fused_sgd_(sgd.params, sgd.grads, momentum != 0 ? sgd.first : Tensors{}, 0.01, momentum, 0.1,
                             nesterov ? 0.0 : 0.2, nesterov, false, step++ == 0);
        });
      }
    Lists adagrad(c, dtype);
    adagrad.three_steps(c, "adagrad", [&] {
      torch::_fused_adagrad_(adagrad.params, adagrad.grads, adagrad.first, adagrad.steps, 0.1, 0.01, 0.1, 1e-10, false);
    });
  });
}

// A scaler's numbers: gradients come back unscaled, and a step that overflowed changes nothing.
PARITY_CASE(foreach, fused_scaled) {
  for (const float found : {0.f, 1.f}) {
    const std::optional<Tensor> scale = torch::tensor(8.f), found_inf = torch::tensor(found);
    const std::string name = found != 0 ? "overflow" : "scaled";
    Lists adam(c, torch::kFloat), sgd(c, torch::kFloat);
    adam.three_steps(c, name + ".adam", [&] {
      torch::_fused_adam_(adam.params, adam.grads, adam.first, adam.second, {}, adam.steps, 0.1, 0.9, 0.99, 0, 1e-8,
                          false, false, scale, found_inf);
    });
    sgd.three_steps(c, name + ".sgd", [&] {
      torch::_fused_sgd_(sgd.params, sgd.grads, sgd.first, 0, 0.9, 0.1, 0, false, false, false, scale, found_inf);
    });
  }
}

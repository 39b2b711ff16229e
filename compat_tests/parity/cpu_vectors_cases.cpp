// Loops that extensions write of at::vec::Vectorized.
#include <ATen/Parallel.h>
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>
#include <ATen/native/cpu/utils.h>

#include "parity/case.h"

namespace {

template <typename T>
using Vec = at::vec::Vectorized<T>;

/// f of all elements, a vector at a time; the last one is not full.
template <typename T, typename F>
torch::Tensor each(const torch::Tensor& x, F f) {
  auto y = torch::empty_like(x);
  at::vec::map<T>(f, y.mutable_data_ptr<T>(), x.const_data_ptr<T>(), x.numel());
  return y;
}

template <typename T>
void functions(parity::Case& c, const torch::Tensor& x) {
  c.out("exp", each<T>(x, [](Vec<T> v) { return v.exp(); }));
  c.out("tanh", each<T>(x, [](Vec<T> v) { return v.tanh(); }));
  c.out("abs", each<T>(x, [](Vec<T> v) { return v.abs(); }));
  c.out("round", each<T>(x, [](Vec<T> v) { return (v * Vec<T>(4)).round(); }));
  c.out("sqrt", each<T>(x, [](Vec<T> v) { return v.abs().sqrt() + v.neg(); }));
  c.out("sigmoid", each<T>(x, [](Vec<T> v) { return Vec<T>(1) / (Vec<T>(1) + (-v).exp()); }));
  c.out("clamp", each<T>(x, [](Vec<T> v) { return at::vec::clamp(v, Vec<T>(-0.5), Vec<T>(0.25)); }));
  c.out("bounds",
        each<T>(x, [](Vec<T> v) { return at::vec::clamp_min(v, Vec<T>(0)) + at::vec::clamp_max(v, Vec<T>(1)); }));
  c.out("fmadd", each<T>(x, [](Vec<T> v) { return at::vec::fmadd(v, v, Vec<T>(2)); }));
  c.out("maximum",
        each<T>(x, [](Vec<T> v) { return at::vec::maximum(v, Vec<T>(0)) - at::vec::minimum(v, Vec<T>(0)); }));
  c.out("blendv", each<T>(x, [](Vec<T> v) { return Vec<T>::blendv(v, v * v, v < Vec<T>(0)); }));
  c.out("blend", each<T>(x, [](Vec<T> v) { return Vec<T>::template blend<0x5>(v, Vec<T>(9)); }));
  c.out("compare", each<T>(x, [](Vec<T> v) { return v.gt(Vec<T>(0)) + v.eq(v) + v.le(Vec<T>(0.5)); }));
  c.out("mask", each<T>(x, [](Vec<T> v) { return v & (v > Vec<T>(0)); }));
  c.out("flip", each<T>(x, [](Vec<T> v) { return at::vec::flip(v); }));
}

}  // namespace

PARITY_CASE(cpu_vectors, functions) {
  c.scope("float", [&] { functions<float>(c, c.randn({77})); });
  c.scope("double", [&] { functions<double>(c, c.randn({77}, torch::kDouble)); });
  c.scope("special", [&] { functions<float>(c, c.special(torch::kFloat)); });
}

PARITY_CASE(cpu_vectors, halves) {
  const auto x = c.randn({77}, torch::kBFloat16), h = c.randn({77}, torch::kHalf);
  c.out("silu", each<at::BFloat16>(x, [](Vec<float> v) { return v / (Vec<float>(1) + v.neg().exp()); }));
  c.out("silu_half", each<at::Half>(h, [](Vec<float> v) { return v / (Vec<float>(1) + v.neg().exp()); }));
  auto y = torch::empty_like(x);
  const auto* in = x.const_data_ptr<at::BFloat16>();
  auto* out = y.mutable_data_ptr<at::BFloat16>();
  for (int64_t i = 0; i + Vec<at::BFloat16>::size() <= x.numel(); i += Vec<at::BFloat16>::size()) {
    auto [a, b] = at::vec::convert_to_float<at::BFloat16>(Vec<at::BFloat16>::loadu(in + i));
    at::vec::convert_from_float<at::BFloat16>(a * Vec<float>(3), b + Vec<float>(1)).store(out + i);
  }
  c.out("converted", y.slice(0, 0, 64));
  float sums[Vec<float>::size()];
  Vec<float> loaded;
  at::vec::load_to_float(in, loaded);
  loaded.store(sums);
  c.value("loaded", sums[1]);
  c.value("sum", at::vec::reduce_all<at::BFloat16>([](Vec<float>& a, Vec<float>& b) { return a + b; }, in, 77));
}

PARITY_CASE(cpu_vectors, reductions) {
  for (int64_t n : {1, 5, 8, 77}) {
    const auto x = c.randn({n}), y = c.randn({n});
    const float *a = x.const_data_ptr<float>(), *b = y.const_data_ptr<float>();
    const auto add = [](Vec<float> p, Vec<float> q) { return p + q; };
    c.scope(std::to_string(n).c_str(), [&] {
      c.value("sum", at::vec::reduce_all<float>(add, a, n));
      c.value("max",
              at::vec::reduce_all<float>([](Vec<float> p, Vec<float> q) { return at::vec::maximum(p, q); }, a, n));
      c.value("squares", at::vec::map_reduce_all<float>([](Vec<float> p) { return p * p; }, add, a, n));
      c.value("dot", at::vec::map2_reduce_all<float>([](Vec<float> p, Vec<float> q) { return p * q; }, add, a, b, n));
      auto out = torch::empty({n});
      at::vec::map2<float>([](Vec<float> p, Vec<float> q) { return p * q + Vec<float>(1); }, out.data_ptr<float>(), a,
                           b, n);
      c.out("map2", out);
      at::vec::map3<float>([](Vec<float> p, Vec<float> q, Vec<float> r) { return p * q + r; }, out.data_ptr<float>(), a,
                           b, a, n);
      c.out("map3", out);
    });
  }
}

PARITY_CASE(cpu_vectors, places) {
  const auto x = c.randn({3, 40});
  const auto* in = x.const_data_ptr<float>();
  auto [even, odd] = at::vec::deinterleave2(Vec<float>::loadu(in), Vec<float>::loadu(in + Vec<float>::size()));
  auto [low, high] = at::vec::interleave2(even * Vec<float>(2), odd);
  auto out = torch::zeros({16});
  low.store(out.data_ptr<float>());
  high.store(out.data_ptr<float>() + Vec<float>::size(), 3);
  c.out("interleaved", out);
  at::vec::gather<4>(in, Vec<int32_t>::arange(0, 4)).store(out.data_ptr<float>());
  c.out("gathered", out);
  Vec<float>::set(even, odd, 3).store(out.data_ptr<float>());
  c.out("set", out);
  at::vec::convert_to_int_of_same_size(Vec<float>::loadu(in) * Vec<float>(10)).store(out.data_ptr<float>());
  c.out("ints", out.slice(0, 0, 8).view(torch::kInt));
  const auto ints = c.randint(-50, 50, {8}, torch::kInt);
  const auto v = Vec<int32_t>::loadu(ints.const_data_ptr<int32_t>());
  (((v << Vec<int32_t>(3)) ^ (v >> Vec<int32_t>(1))) | Vec<int32_t>(64)).store(out.data_ptr<float>());
  c.out("bits", out.slice(0, 0, 8).view(torch::kInt));
  int64_t n = 0, i = 0, j = 0;
  at::native::data_index_init(static_cast<int64_t>(17), n, static_cast<int64_t>(2), i, static_cast<int64_t>(3), j,
                              static_cast<int64_t>(4));
  at::native::data_index_step(n, static_cast<int64_t>(2), i, static_cast<int64_t>(3), j, static_cast<int64_t>(4));
  c.value("counters", n * 100 + i * 10 + j);
  auto turned = torch::empty({40, 3});
  at::native::utils::transpose<float>(3, 40, in, 40, turned.data_ptr<float>(), 3);
  c.out("transposed", turned);
  c.value("widths", Vec<float>::size() * 100 + Vec<int8_t>::size());
}

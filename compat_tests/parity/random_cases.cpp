// The same seed gives the same numbers, bit for bit. The harness seeds the default generator before each
// case.
#include "parity/case.h"

namespace {

using torch::Tensor;

const std::vector<int64_t> kSizes{0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 1000};

// Everything here must be equal, whatever the dtype.
void exact(parity::Case& c) {
  for (auto dtype : parity::kFloats) c.tolerance(dtype, 0, 0);
}

// Fills tensors of several sizes and layouts in a row, so that the state of the generator is compared too.
void fills(parity::Case& c, const parity::Dtypes& dtypes, const std::function<void(Tensor&)>& fill) {
  exact(c);
  c.for_dtypes(dtypes, [&](torch::Dtype dtype) {
    for (int64_t n : kSizes) {
      auto t = torch::zeros({n}, dtype);
      fill(t);
      c.out(std::to_string(n), t);
    }
    auto matrix = torch::zeros({7, 5}, dtype);
    fill(matrix);
    c.out("matrix", matrix);
    auto transposed = torch::zeros({5, 7}, dtype).t();
    fill(transposed);
    c.out("transposed", transposed);
    auto base = torch::zeros({6, 9}, dtype);
    auto strided = base.slice(1, 1, 8, 2);
    fill(strided);
    c.out("strided", base);
    auto block = torch::zeros({4, 6, 5}, dtype);
    auto permuted = block.permute({2, 0, 1}).slice(1, 1, 4);
    fill(permuted);
    c.out("permuted", block);
    auto scalar = torch::zeros({}, dtype);
    fill(scalar);
    c.out("0d", scalar);
  });
}

parity::Dtypes without_bool() {
  auto all = parity::kAll;
  all.pop_back();
  return all;
}

}  // namespace

PARITY_CASE(random, uniform_) {
  fills(c, parity::kFloats, [](Tensor& t) { t.uniform_(); });
}
PARITY_CASE(random, uniform_range) {
  fills(c, parity::kFloats, [](Tensor& t) { t.uniform_(-0.037, 0.71); });
}
PARITY_CASE(random, normal_) {
  fills(c, parity::kFloats, [](Tensor& t) { t.normal_(); });
}
PARITY_CASE(random, normal_mean_std) {
  fills(c, parity::kFloats, [](Tensor& t) { t.normal_(0.3, 0.7); });
}
PARITY_CASE(random, random_) {
  fills(c, parity::kAll, [](Tensor& t) { t.random_(); });
}
PARITY_CASE(random, random_to) {
  fills(c, without_bool(), [](Tensor& t) { t.random_(100); });
}
PARITY_CASE(random, random_from_to) {
  fills(c, {torch::kFloat, torch::kDouble, torch::kLong, torch::kInt}, [](Tensor& t) { t.random_(-70000, 1 << 20); });
}
PARITY_CASE(random, random_wide) {
  // From 2^28 values on each takes 64 bits.
  fills(c, {torch::kDouble, torch::kLong}, [](Tensor& t) { t.random_(-5, int64_t{1} << 40); });
  fills(c, {torch::kInt}, [](Tensor& t) { t.random_(-5, (1 << 28) - 5); });
  fills(c, {torch::kInt}, [](Tensor& t) { t.random_(-4, (1 << 28) - 5); });
}
PARITY_CASE(random, random_upwards) {
  fills(c, {torch::kLong, torch::kInt, torch::kShort, torch::kByte, torch::kFloat, torch::kHalf},
        [](Tensor& t) { t.random_(3, std::optional<int64_t>()); });
  fills(c, {torch::kLong, torch::kDouble, torch::kFloat},
        [](Tensor& t) { t.random_(std::numeric_limits<int64_t>::min(), std::optional<int64_t>()); });
}
PARITY_CASE(random, random_rounded_bounds) {
  // Bounds that the dtype cannot hold move inwards.
  exact(c);
  auto half = torch::zeros({1000}, torch::kHalf);
  c.out("half", half.random_(0, 65504));
  auto bf16 = torch::zeros({1000}, torch::kBFloat16);
  c.out("bf16", bf16.random_(-1001, 1003));
  auto f32 = torch::zeros({1000});
  c.out("f32", f32.random_(0, (int64_t{1} << 25) + 3));
}
PARITY_CASE(random, bernoulli_) {
  fills(c, parity::kAll, [](Tensor& t) { t.bernoulli_(0.3); });
}
PARITY_CASE(random, bernoulli_edges) {
  fills(c, {torch::kFloat}, [](Tensor& t) { t.bernoulli_(0); });
  fills(c, {torch::kFloat}, [](Tensor& t) { t.bernoulli_(1); });
  fills(c, {torch::kFloat}, [](Tensor& t) { t.bernoulli_(); });
}
PARITY_CASE(random, bernoulli_tensor) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto p = c.rand({5, 7}, dtype);
    c.out("self", torch::bernoulli(p));
    c.out("transposed", torch::bernoulli(p.t()));
    c.out("p", torch::bernoulli(p, 0.25));
    auto t = torch::zeros({3, 5, 7});
    c.out("broadcast", t.bernoulli_(p));
    auto u = torch::zeros({7, 5}, torch::kLong).t();
    c.out("into_transposed", u.bernoulli_(p));
  });
}
PARITY_CASE(random, exponential_) {
  fills(c, parity::kFloats, [](Tensor& t) { t.exponential_(1.7); });
}
PARITY_CASE(random, geometric_) {
  fills(c, without_bool(), [](Tensor& t) { t.geometric_(0.2); });
}
PARITY_CASE(random, log_normal_) {
  fills(c, parity::kFloats, [](Tensor& t) { t.log_normal_(0.2, 0.5); });
}
PARITY_CASE(random, cauchy_) {
  fills(c, parity::kFloats, [](Tensor& t) { t.cauchy_(0.2, 0.5); });
}
PARITY_CASE(random, poisson) {
  exact(c);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    c.out("small", torch::poisson(c.rand({50}, dtype, 0, 9)));
    c.out("large", torch::poisson(c.rand({50}, dtype, 10, 200)));
    c.out("zero", torch::poisson(torch::zeros({3}, dtype)));
  });
}

PARITY_CASE(random, factories) {
  exact(c);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    c.out("rand", torch::rand({3, 4}, dtype));
    c.out("randn", torch::randn({3, 4}, dtype));
    c.out("randn_large", torch::randn({50, 41}, dtype));
    c.out("rand_0d", torch::rand({}, dtype));
    c.out("rand_empty", torch::rand({0, 3}, dtype));
    auto x = torch::zeros({4, 6}, dtype).t();
    c.out("rand_like", torch::rand_like(x));
    c.out("randn_like", torch::randn_like(x));
    c.layout("like_layout", torch::randn_like(x));
    c.out("randint_like", torch::randint_like(x, 10));
    c.out("randint_like2", torch::randint_like(x, -3, 10));
    c.out("rand_like_double", torch::rand_like(x, torch::kDouble));
  });
  c.out("randint", torch::randint(10, {20}));
  c.out("randint2", torch::randint(-10, 10, {4, 5}));
  c.out("randint_float", torch::randint(0, 2, {20}, torch::kFloat));
  c.out("normal", at::normal(2.0, 3.0, {20}));
  c.check(torch::rand({2}, torch::requires_grad()).requires_grad(), "requires_grad");
  c.check(torch::randn({2}, torch::requires_grad()).is_leaf(), "leaf");
}

PARITY_CASE(random, normal_of_tensors) {
  exact(c);
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    auto mean = c.leaf({5, 4}, dtype), std = c.leaf_in(0.1, 2, {5, 4}, dtype);
    c.out("mean", at::normal(mean, 0.5));
    c.out("std", at::normal(1.5, std));
    c.out("both", at::normal(mean, std));
    c.out("broadcast", at::normal(c.randn({4}, dtype), std));
    c.backward("grad", at::normal(mean, std), {mean, std});
  });
  c.throws("negative", [&] { at::normal(c.randn({3}), -1.0); });
}

PARITY_CASE(random, randperm) {
  for (int64_t n : {0, 1, 2, 10, 1000, 40000}) c.out(std::to_string(n), torch::randperm(n));
  c.out("int", torch::randperm(100, torch::kInt));
  c.out("float", torch::randperm(100, torch::kFloat));
  c.out("short", torch::randperm(100, torch::kShort));
  auto out = torch::empty({0}, torch::kLong);
  torch::randperm_out(out, 12);
  c.out("out", out);
  c.throws("negative", [] { torch::randperm(-1); });
}

PARITY_CASE(random, multinomial) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto p = c.rand({20}, dtype, 0, 1), rows = c.rand({4, 20}, dtype, 0, 1);
    c.out("one", torch::multinomial(p, 1));
    c.out("one_of_rows", torch::multinomial(rows, 1));
    c.out("without", torch::multinomial(p, 7));
    c.out("without_rows", torch::multinomial(rows, 20));
    c.out("with", torch::multinomial(p, 50, true));
    c.out("with_rows", torch::multinomial(rows, 50, true));
    c.out("transposed", torch::multinomial(c.rand({20, 3}, dtype).t(), 9, true));
    c.out("weights", torch::multinomial(c.values({0, 10, 3, 0}, dtype), 4, true));
  });
  c.throws("negative", [&] { torch::multinomial(c.values({1, -1}), 1); });
  c.throws("negative_with", [&] { torch::multinomial(c.values({1, -1}), 3, true); });
  c.throws("zeros", [&] { torch::multinomial(torch::zeros({3}), 2, true); });
  c.throws("too_many", [&] { torch::multinomial(torch::ones({3}), 4); });
  c.throws("dims", [&] { torch::multinomial(torch::ones({3, 3, 3}), 4); });
  c.throws("integers", [&] { torch::multinomial(torch::ones({3}, torch::kLong), 1); });
}

PARITY_CASE(random, dropout) {
  for (auto dtype : parity::kFloats) c.tolerance(dtype, 0, 0);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({6, 7}, dtype);
    c.gradients("half", {x}, [&] { return torch::dropout(x, 0.5, true); });
    c.gradients("third", {x}, [&] { return torch::dropout(x, 0.3, true); });
    c.gradients("all", {x}, [&] { return torch::dropout(x, 1.0, true); });
    c.out("eval", torch::dropout(x, 0.5, false));
    c.out("none", torch::dropout(x, 0, true));
    c.gradients("transposed", {x}, [&] { return torch::dropout(x.t(), 0.3, true); });
    auto image = c.leaf({2, 3, 4, 5}, dtype);
    c.gradients("feature", {image}, [&] { return torch::feature_dropout(image, 0.4, true); });
    auto inplace = c.randn({9}, dtype);
    torch::dropout_(inplace, 0.5, true);
    c.out("inplace", inplace);
  });
  c.throws("p", [&] { torch::dropout(c.randn({3}), 1.5, true); });
}

PARITY_CASE(random, alpha_dropout) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({6, 7}, dtype);
    c.gradients("alpha", {x}, [&] { return torch::alpha_dropout(x, 0.3, true); });
    c.gradients("all", {x}, [&] { return torch::alpha_dropout(x, 1.0, true); });
    c.out("eval", torch::alpha_dropout(x, 0.3, false));
    auto image = c.leaf({2, 3, 4, 5}, dtype);
    c.gradients("feature", {image}, [&] { return torch::feature_alpha_dropout(image, 0.4, true); });
    auto inplace = c.randn({9}, dtype);
    torch::alpha_dropout_(inplace, 0.5, true);
    c.out("inplace", inplace);
  });
}

PARITY_CASE(random, generators) {
  exact(c);
  auto g = torch::make_generator<at::CPUGeneratorImpl>(5);
  c.out("from_generator", torch::rand({5}, g));
  c.out("randn", torch::randn({5}, g));
  auto t = torch::zeros({5});
  c.out("uniform", t.uniform_(0, 1, g));
  auto state = g.get_state();
  c.out("state", state);
  auto first = torch::randn({7}, g);
  g.set_state(state);
  c.check(first.equal(torch::randn({7}, g)), "the state brings the numbers back");
  auto twin = g.clone();
  c.check(torch::rand({3}, g).equal(torch::rand({3}, twin)), "a clone goes on alike");
  g.set_current_seed(11);
  c.value("seed", static_cast<int64_t>(g.current_seed()));
  c.out("reseeded", torch::rand({3}, g));
  auto made = at::detail::createCPUGenerator(7);
  c.out("created", torch::randint(0, 1000, {5}, made));
  c.out("randperm", torch::randperm(9, made));
  c.out("multinomial", torch::multinomial(c.rand({9}), 4, false, made));
  c.out("bernoulli", torch::bernoulli(c.rand({9}), made));
  {
    std::lock_guard<std::mutex> lock(made.mutex());
    auto* impl = at::check_generator<at::CPUGeneratorImpl>(made);
    c.value("random", static_cast<int64_t>(impl->random()));
    c.value("random64", static_cast<int64_t>(impl->random64()));
  }
  torch::manual_seed(3);
  c.out("seeded", torch::rand({3}));
  c.out("default", torch::rand({3}, at::detail::getDefaultCPUGenerator()));
}

PARITY_CASE(random, non_leaf_gets_zero_gradient) {
  auto x = c.leaf({4, 5}, torch::kDouble);
  auto y = x * 2;
  y.uniform_();
  c.out("y", y);
  c.backward("uniform", y + x, {x});
  c.throws("leaf", [&] { x.normal_(); });
  {
    torch::NoGradGuard guard;
    x.normal_();
  }
  c.out("under_guard", x);
}

PARITY_CASE(random, errors) {
  auto x = c.randn({3});
  c.throws("uniform", [&] { x.uniform_(2, 1); });
  c.throws("normal", [&] { x.normal_(0, -1); });
  c.throws("bernoulli", [&] { x.bernoulli_(1.5); });
  c.throws("exponential", [&] { x.exponential_(0); });
  c.throws("geometric", [&] { x.geometric_(0); });
  c.throws("log_normal", [&] { x.log_normal_(0, 0); });
  c.throws("cauchy", [&] { x.cauchy_(0, 0); });
  c.throws("random", [&] { x.random_(5, 5); });
  auto b = torch::zeros({3}, torch::kByte);
  c.throws("byte", [&] { b.random_(0, 300); });
  c.throws("byte_negative", [&] { b.random_(-1, 20); });
  c.throws("rand_long", [] { torch::rand({3}, torch::kLong); });
  c.throws("randn_long", [] { torch::randn({3}, torch::kLong); });
  c.throws("overlap", [&] { x.expand({4, 3}).uniform_(); });
  c.throws("p", [&] { torch::bernoulli(c.values({0.5, 1.5})); });
  c.throws("randint", [] { torch::randint(3, 3, {2}); });
}

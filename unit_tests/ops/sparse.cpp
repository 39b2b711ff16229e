// Sparse tensors where LibTorch has no counterpart: every function without a sparse form says so, and indices are
// checked.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>
#include <sstream>

namespace {

using torch::Tensor;

Tensor sample() {
  return torch::sparse_coo_tensor(torch::tensor({{0, 1, 1}, {2, 0, 2}}, torch::kLong),
                                  torch::tensor({1.0F, 2.0F, 3.0F}), {2, 3}, torch::kFloat);
}

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const c10::Error& e) {
    return e.what();
  }
  return "";
}

// Strided functions of every kind that have no sparse form: each must throw, none may read memory.
void expect_strided_functions_throw(const Tensor& s) {
  const Tensor d = torch::ones({2, 3});
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"exp", [&] { s.exp(); }},
      {"add", [&] { s + 1; }},
      {"gt", [&] { s > d; }},
      {"max", [&] { s.max(); }},
      {"mean", [&] { s.mean(); }},
      {"argmax", [&] { s.argmax(); }},
      {"sort", [&] { s.sort(); }},
      {"cumsum", [&] { s.cumsum(0); }},
      {"softmax", [&] { s.softmax(0); }},
      {"where", [&] { torch::where(d > 0, s, d); }},
      {"gather",
       [&] {
         s.gather(0, torch::zeros({1, 1}, torch::kLong));
       }},
      {"scatter",
       [&] {
         d.scatter(0, torch::zeros({2, 3}, torch::kLong), s);
       }},
      {"masked_fill", [&] { s.masked_fill(d > 0, 1); }},
      {"conv1d", [&] { torch::conv1d(d.unsqueeze(0), s.unsqueeze(0)); }},
      {"layer_norm", [&] { torch::layer_norm(s, {3}); }},
      {"embedding", [&] { torch::embedding(s, torch::zeros({1}, torch::kLong)); }},
      {"mse_loss", [&] { torch::mse_loss(s, d); }},
      {"cross_entropy", [&] { torch::cross_entropy_loss(s, torch::zeros({2}, torch::kLong)); }},
      {"inverse",
       [&] {
         torch::inverse(torch::zeros({3, 3}).to_sparse());
       }},
      {"fft", [&] { torch::fft::fft(s); }},
      {"view", [&] { s.view({6}); }},
      {"reshape", [&] { s.reshape({6}); }},
      {"expand",
       [&] {
         s.expand({4, 2, 3});
       }},
      {"slice", [&] { s.slice(1, 0, 2); }},
      {"data_ptr", [&] { s.data_ptr<float>(); }},
      {"accessor", [&] { s.accessor<float, 2>(); }},
      {"storage", [&] { s.storage(); }},
      {"item", [&] { sample().narrow_copy(0, 0, 1).narrow_copy(1, 2, 1).item(); }},
      {"uniform_", [&] { s.clone().uniform_(); }},
      {"fill_", [&] { s.clone().fill_(1); }},
      {"clamp", [&] { s.clamp(0, 1); }},
      {"equal", [&] { torch::equal(s, s); }},
  };
  for (const auto& [name, call] : calls) EXPECT_NE(message(call), "") << name << " of " << s.layout();
}
TEST(Sparse, FunctionsWithoutASparseFormThrow) {
  expect_strided_functions_throw(sample());
  for (const Tensor& s : {sample().to_sparse_csr(), sample().to_sparse_csc()}) {
    expect_strided_functions_throw(s);
    for (const auto& [name, call] : std::vector<std::pair<const char*, std::function<void()>>>{
             {"coalesce", [&] { s.coalesce(); }},
             {"indices", [&] { s.indices(); }},
             {"index_select", [&] { s.index_select(0, torch::zeros({1}, torch::kLong)); }},
             {"narrow_copy", [&] { s.narrow_copy(0, 0, 1); }},
             {"unsqueeze", [&] { s.unsqueeze(0); }},
             {"cat",
              [&] {
                torch::cat({s, s});
              }},
             {"norm", [&] { s.norm(); }},
             {"any", [&] { s.any(); }},
             {"bmm", [&] { torch::bmm(s.unsqueeze(0), s.unsqueeze(0)); }},
             {"_sparse_sum", [&] { torch::_sparse_sum(s); }},
             {"_sparse_softmax", [&] { torch::_sparse_softmax(s, 0); }},
             {"hspmm", [&] { torch::hspmm(s, torch::ones({3, 2})); }},
             {"smm", [&] { torch::smm(s, torch::ones({3, 2})); }},
             {"sparse_resize_", [&] { s.clone().sparse_resize_({4, 4}, 2, 0); }},
             {"copy_", [&] { s.clone().copy_(torch::ones({2, 3})); }},
             {"copy_ to strided", [&] {
                torch::ones({2, 3}).copy_(s);
              }}})
      EXPECT_NE(message(call), "") << name << " of " << s.layout();
  }
}

TEST(Sparse, ErrorsNameTheFunctionAndSayWhatToDo) {
  const Tensor s = sample();
  for (const auto& [name, text] :
       std::vector<std::pair<std::string, std::string>>{{"cumsum", message([&] { s.cumsum(0); })},
                                                        {"argmax", message([&] { s.argmax(); })},
                                                        {"layer_norm", message([&] { torch::layer_norm(s, {3}); })}}) {
    EXPECT_NE(text.find("[" + name), std::string::npos) << text;
    EXPECT_NE(text.find("Sparse"), std::string::npos) << text;
    EXPECT_NE(text.find("to_dense()"), std::string::npos) << text;
  }
}

TEST(Sparse, IndicesAreChecked) {
  const Tensor values = torch::ones({1});
  const auto at = [](int64_t i) { return torch::tensor({i}, torch::kLong).reshape({1, 1}); };
  EXPECT_NE(message([&] { torch::sparse_coo_tensor(at(3), values, {3}, torch::kFloat); }), "");
  EXPECT_NE(message([&] { torch::sparse_coo_tensor(at(-1), values, {3}, torch::kFloat); }), "");
  // Not checked when it is made; found before memory is addressed.
  const Tensor loose = torch::_sparse_coo_tensor_unsafe(at(30), values, {3}, torch::kFloat);
  EXPECT_NE(message([&] { loose.to_dense(); }), "");
  EXPECT_NE(message([&] { torch::ones({3}) + loose; }), "");
  const Tensor two = torch::_sparse_coo_tensor_unsafe(torch::tensor({{0, 1}, {0, 9}}, torch::kLong), torch::ones({2}),
                                                      {2, 2}, torch::kFloat, true);
  EXPECT_NE(message([&] { two.mm(torch::ones({2, 2})); }), "");
}

// LibTorch's C++ torch::sparse_coo_tensor cuts the graph; here values have gradients, as in Python.
TEST(Sparse, ValuesHaveGradients) {
  const Tensor index = torch::tensor({{0, 1, 1, 0}, {2, 0, 2, 2}}, torch::kLong);
  const Tensor v = torch::tensor({1.0, 2.0, 3.0, 4.0}, torch::kDouble).requires_grad_();
  const Tensor m = torch::arange(12.0, torch::kDouble).reshape({3, 4}).requires_grad_();
  const auto matrix = [&] { return torch::sparse_coo_tensor(index, v, {2, 3}, torch::kDouble); };
  const auto expected = [&](const Tensor& dense_loss) { return torch::autograd::grad({dense_loss}, {v, m}); };
  const auto by_hand = [&] {
    return torch::zeros({6}, torch::kDouble).index_add(0, index[0] * 3 + index[1], v).reshape({2, 3});
  };
  const auto want = expected(by_hand().mm(m).pow(2).sum());
  for (const Tensor& out : {matrix().mm(m), matrix().coalesce().mm(m), torch::_sparse_mm(matrix(), m),
                            matrix().to_dense().mm(m), m.t().mm(matrix().t()).t()}) {
    const auto got = torch::autograd::grad({out.pow(2).sum()}, {v, m});
    EXPECT_TRUE(torch::allclose(got[0], want[0]));
    EXPECT_TRUE(torch::allclose(got[1], want[1]));
  }
  // Second derivatives.
  const auto first = torch::autograd::grad({torch::_sparse_mm(matrix(), m).pow(2).sum()}, {m}, {}, true, true);
  const auto second = torch::autograd::grad({first[0].pow(2).sum()}, {v});
  const auto dense = torch::autograd::grad({by_hand().mm(m).pow(2).sum()}, {m}, {}, true, true);
  EXPECT_TRUE(torch::allclose(second[0], torch::autograd::grad({dense[0].pow(2).sum()}, {v})[0]));
}

TEST(Sparse, ClippingScalesSparseGradients) {
  const Tensor w = torch::ones({4, 2}).requires_grad_();
  torch::embedding(w, torch::tensor({0, 3, 3}, torch::kLong), -1, false, true).sum().backward();
  EXPECT_NEAR(torch::nn::utils::clip_grad_norm_(w, 1.0), std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(w.grad().norm().item<double>(), 1.0, 1e-5);
}

Tensor look_up(const Tensor& w, const Tensor& index) { return torch::embedding(w, index, -1, false, true); }

// Gradients that the caller gives are read, never written.
TEST(Sparse, GradientsOfTheCallerStayAsTheyAre) {
  const Tensor w = torch::ones({3, 2}).requires_grad_();
  const Tensor index = torch::tensor({0, 2}, torch::kLong);
  for (const Tensor& given : {torch::ones({6}), torch::ones({1}).expand({6})}) {
    const Tensor before = given.clone(), u = w * 1;
    w.mutable_grad().reset();
    torch::autograd::backward({u.view({6}), look_up(u, index)}, {given, torch::ones({2, 2})});
    EXPECT_TRUE(torch::equal(given, before));
    EXPECT_TRUE(torch::equal(w.grad(), torch::tensor({{2.0F, 2.0F}, {1.0F, 1.0F}, {2.0F, 2.0F}})));
  }
}

TEST(Sparse, GradientsAddUpInPlaceAndKeepTheirHistory) {
  const Tensor index = torch::tensor({0, 2}, torch::kLong);
  const Tensor w = torch::ones({3, 2}).requires_grad_();
  look_up(w, index).sum().backward();
  const Tensor handle = w.grad();
  look_up(w, index).sum().backward();
  EXPECT_EQ(handle.to_dense().sum().item<float>(), 8);
  // Sizes that do not fit: the sum throws and the gradient remains.
  const Tensor s = sample().coalesce().requires_grad_();
  s.mutable_grad() = torch::ones({2, 3}).to_sparse(1);
  EXPECT_NE(message([&] { torch::_sparse_sum(s).backward(); }), "");
  EXPECT_TRUE(s.grad().defined());

  const Tensor x = torch::ones({3, 2}).requires_grad_();
  const Tensor loss = look_up(x, index).pow(3).sum();
  loss.backward({}, true, true);
  EXPECT_TRUE(x.grad().requires_grad());
  const Tensor second = torch::autograd::grad({x.grad().to_dense().sum()}, {x})[0].to_dense();
  EXPECT_EQ(second.sum().item<float>(), 24);
  x.mutable_grad().reset();  // whose graph holds x
}

// Sparse tensors share indices and values with those that they were made of.
TEST(Sparse, InPlaceChangesStayWithinTheirTensor) {
  const Tensor values = torch::tensor({1.0F, 2.0F}), index = torch::tensor({{0, 1}, {1, 0}}, torch::kLong);
  const Tensor s = torch::sparse_coo_tensor(index, values, {2, 2}, torch::kFloat);
  s.t().mul_(2);
  s.unsqueeze(0).mul_(2);
  s.detach().div_(2);
  EXPECT_TRUE(torch::equal(s._values(), values));
  s.clone().mul_(2), Tensor(s).mul_(2);
  EXPECT_TRUE(torch::equal(s._values(), torch::tensor({2.0F, 4.0F})));
  EXPECT_TRUE(torch::equal(values, torch::tensor({1.0F, 2.0F})));
  const Tensor c = s.coalesce();
  c.detach()._coalesced_(false);
  EXPECT_TRUE(c.is_coalesced());
}

TEST(Sparse, ChangesOfValuesThatAGraphNeedsAreFound) {
  const Tensor w = torch::ones({3, 2}).requires_grad_();
  for (const bool coalesced : {false, true}) {
    const Tensor s = sample().coalesce(), out = torch::mm(s, w);
    (coalesced ? s.values() : s._values()).mul_(2);
    EXPECT_NE(message([&] { out.sum().backward(); }).find("modified by an inplace operation"), std::string::npos);
  }
}

TEST(Sparse, ProductsOfHybridTensors) {
  const Tensor index = torch::tensor({{0, 2}}, torch::kLong), values = torch::tensor({{1.0F, 2.0F}, {3.0F, 4.0F}});
  const Tensor a = torch::sparse_coo_tensor(index, values, {3, 2}, torch::kFloat, false);
  const Tensor product = a * torch::sparse_coo_tensor(index, values, {3, 2}, torch::kFloat, false);
  EXPECT_TRUE(torch::equal(product.to_dense(), a.to_dense() * a.to_dense()));
}

TEST(Sparse, GradientsOfGatherWithoutDimensions) {
  for (const auto& [size, shape] :
       std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{{{3}, {}}, {{}, {}}, {{}, {2}}, {{3}, {2}}}) {
    const Tensor x = torch::ones(size).requires_grad_(), at = torch::full(shape, size.empty() ? 0 : 2, torch::kLong);
    (x.gather(0, at, true) * 3).sum().backward();
    const Tensor got = x.grad().to_dense();
    x.mutable_grad().reset();
    (x.gather(0, at) * 3).sum().backward();
    EXPECT_TRUE(torch::equal(got, x.grad())) << c10::str(x.sizes(), at.sizes());
  }
}

TEST(Sparse, SizesAndNumbersAreChecked) {
  const Tensor s = sample(), i = s._indices(), whole = s.to(torch::kInt);
  EXPECT_NE(message([&] { s.narrow_copy(0, 1, INT64_MAX); }), "");
  const Tensor wide = torch::sparse_coo_tensor({INT64_MAX}, torch::kFloat);
  EXPECT_NE(message([&] { torch::cat({wide, wide}); }), "");
  EXPECT_NE(message([&] { s.clone().sparse_resize_and_clear_({-1, 3}, 2, 0); }), "");
  EXPECT_NE(message([&] {
              torch::sparse_coo_tensor(torch::full({1, 1}, INT64_MAX, torch::kLong), torch::ones({1}));
            }),
            "");
  EXPECT_NE(message([&] { whole.add(whole, 0.5); }).find("argument alpha"), std::string::npos);
  EXPECT_NE(message([&] { whole.clone().add_(whole, 0.5); }).find("argument alpha"), std::string::npos);
  EXPECT_NE(message([&] { s.to(torch::kStrided); }).find("to_dense()"), std::string::npos);
  EXPECT_EQ((whole * torch::tensor({1.5})).scalar_type(), torch::kFloat);
  EXPECT_EQ((s * torch::tensor({1.5}, torch::kDouble)).scalar_type(), torch::kDouble);
  EXPECT_EQ((s * torch::tensor(1.5, torch::kDouble)).scalar_type(), torch::kFloat);
  EXPECT_NE(message([&] { s / torch::tensor({2.0F}); }), "");
  const Tensor at = torch::tensor({-1, 0}, torch::kInt);
  const Tensor tall = torch::sparse_coo_tensor({int64_t{1} << 33, 2}, torch::kFloat);
  EXPECT_EQ(tall.index_select(0, at)._nnz(), 0);
}

TEST(Sparse, GradientsAreUnscaled) {
  const Tensor w = torch::ones({4, 2}).requires_grad_();
  (look_up(w, torch::tensor({0, 3, 3}, torch::kLong)) * 8).sum().backward();
  Tensor found = torch::zeros({1});
  torch::_amp_foreach_non_finite_check_and_unscale_({w.grad()}, found, torch::full({1}, 0.125F));
  EXPECT_EQ(found.item<float>(), 0);
  const Tensor want = torch::tensor({{1.0F, 1.0F}, {0.0F, 0.0F}, {0.0F, 0.0F}, {2.0F, 2.0F}});
  EXPECT_TRUE(torch::equal(w.grad().to_dense(), want));
  w.grad()._values().fill_(INFINITY);
  torch::_amp_foreach_non_finite_check_and_unscale_({w.grad()}, found, torch::full({1}, 0.125F));
  EXPECT_EQ(found.item<float>(), 1);
}

// Momentum takes sparse gradients as strided ones: each parameter its own.
TEST(Sparse, MomentumOfSeveralParameters) {
  const auto train = [](bool sparse) {
    const std::vector<Tensor> weights{torch::ones({40, 8}).requires_grad_(), torch::ones({40, 8}).requires_grad_()};
    torch::optim::SGD optimizer(weights, torch::optim::SGDOptions(0.5).momentum(0.9));
    for (int64_t step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      const auto rows = [&](int64_t of) { return torch::tensor({of, of + step}, torch::kLong); };
      const Tensor first = torch::embedding(weights[0], rows(1), -1, false, sparse);
      const Tensor second = torch::embedding(weights[1], rows(20), -1, false, sparse);
      (first.sum() + 3 * second.sum()).backward();
      optimizer.step();
    }
    return torch::cat(weights).detach();
  };
  EXPECT_TRUE(torch::allclose(train(true), train(false)));
}

TEST(Sparse, TheLargestOfNoValuesIsZero) {
  const Tensor w = torch::ones({4, 2}).requires_grad_();
  w.mutable_grad() = torch::zeros({4, 2}).to_sparse();
  EXPECT_EQ(torch::nn::utils::clip_grad_norm_(w, 1.0, std::numeric_limits<double>::infinity()), 0);
}

TEST(Sparse, SavingSaysThatItIsNotSupported) {
  std::ostringstream out;
  EXPECT_NE(message([&] { torch::save(sample(), out); }).find("sparse"), std::string::npos);
}

}  // namespace

// Sparse tensors where LibTorch has no counterpart: every function without a sparse form says so, and indices are
// checked.
#include <gtest/gtest.h>
#include <torch/torch.h>

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
TEST(Sparse, FunctionsWithoutASparseFormThrow) {
  const Tensor s = sample(), d = torch::ones({2, 3});
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
  for (const auto& [name, call] : calls) EXPECT_NE(message(call), "") << name;
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

TEST(Sparse, SavingSaysThatItIsNotSupported) {
  std::ostringstream out;
  EXPECT_NE(message([&] { torch::save(sample(), out); }).find("sparse"), std::string::npos);
}

}  // namespace

// What arguments of a script's calls become. parity.script_calls compares with LibTorch.
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

namespace {

torch::Tensor run(const std::string& expression, const torch::Tensor& a) {
  return torch::jit::compile("def f(a):\n  return " + expression)->run_method("f", a).toTensor();
}

void expect(const std::string& expression, const torch::Tensor& a, const torch::Tensor& expected) {
  const auto got = run(expression, a);
  EXPECT_EQ(got.scalar_type(), expected.scalar_type()) << expression;
  EXPECT_TRUE(torch::equal(got, expected)) << expression << " gave " << got;
}

TEST(ScriptCalls, NumbersBeforeTensors) {
  const auto a = torch::tensor({1, 2, 4});
  expect("2 * a", a, torch::tensor({2, 4, 8}));
  expect("2.5 * a", a, torch::tensor({2.5f, 5.0f, 10.0f}));
  expect("2 + a", a, torch::tensor({3, 4, 6}));
  expect("2 - a", a, torch::tensor({1, 0, -2}));
  expect("1 / a", a, torch::tensor({1.0f, 0.5f, 0.25f}));
  expect("torch.mul(2, a)", a, torch::tensor({2, 4, 8}));
  expect("2 > a", a, torch::tensor({true, false, false}));
  expect("2 >= a", a, torch::tensor({true, true, false}));
  expect("2 < a", a, torch::tensor({false, false, true}));
  expect("2 <= a", a, torch::tensor({false, true, true}));
  expect("2 == a", a, torch::tensor({false, true, false}));
  expect("2 != a", a, torch::tensor({true, false, true}));
  expect("2 - a", torch::tensor({1, 4}, torch::kByte), torch::tensor({1, 254}, torch::kByte));
  expect("2j * a", a, torch::tensor({1, 2, 4}) * c10::complex<double>(0, 2));
}

TEST(ScriptCalls, QuotientsRoundedDown) {
  expect("a // 2", torch::tensor({-3, 3}), torch::tensor({-2, 1}));
  expect("a // 0.5", torch::tensor({1.25f, 2.0f}), torch::tensor({2.0f, 4.0f}));
  expect("a // a", torch::tensor({1, 2}), torch::tensor({1, 1}));
}

TEST(ScriptCalls, OneNumberForAListOfSomeLength) {
  const auto a = torch::arange(6, torch::kFloat).view({2, 3});
  expect("a.sum(1)", a, a.sum(1));
  expect("a.mean(1, True)", a, a.mean(1, true));
  expect("a.mean(dim=1, keepdim=True)", a, a.mean(1, true));
  expect("torch.sum(a, dim=1)", a, a.sum(1));
  expect("a.std(dim=1)", a, a.std(1));
  expect("torch.roll(a, 1, 0)", a, torch::roll(a, 1, 0));
  const auto image = torch::rand({1, 1, 5, 5});
  expect("torch.conv2d(a, torch.ones([1, 1, 2, 2]), stride=2, padding=1)", image,
         torch::conv2d(image, torch::ones({1, 1, 2, 2}), {}, 2, 1));
  expect("torch.max_pool2d(a, 2, stride=1)", image, torch::max_pool2d(image, 2, 1));
}

TEST(ScriptCalls, SizesAndDtypesAreNumbers) {
  const auto a = torch::tensor({1, 2, 4});
  expect("a.view(-1)", a, a);
  expect("a.view(3)", a, a);
  expect("a.view(torch.int32)", a, a.view(torch::kInt));
  EXPECT_THROW(run("torch.ones([2], dtype=-1)", a), std::runtime_error);
  EXPECT_THROW(run("torch.ones([2], dtype=1000)", a), std::runtime_error);
}

TEST(ScriptCalls, TrueIsOne) {
  const auto mask = torch::tensor({true, false});
  expect("a + True", mask, torch::tensor({2, 1}));
  expect("a - True", torch::tensor({2, 1}), torch::tensor({1, 0}));
  expect("a ** True", torch::tensor({2, 1}), torch::tensor({2, 1}));
  expect("torch.where(a, 5, True)", mask, torch::tensor({5, 1}));
}

}  // namespace

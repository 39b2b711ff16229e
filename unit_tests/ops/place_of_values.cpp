// What a function makes of a value does not depend on where the value stands: at the end of a tensor, where a vector is
// not full, nor in a tensor of one element. LibTorch keeps this, too; decoders and tests that compare bits rely on it.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <functional>
#include <string>

namespace {

using hb::Tensor;
using Inputs = std::vector<Tensor>;

struct Row {
  std::string name;
  std::function<Tensor(const Inputs&)> compute;
};

#define HB_UNARY(name) {#name, [](const Inputs& x) { return hb::name(x[0]); }},
const std::vector<Row> kUnary = {
#include <halfbridge/ops/unary.def>
    {"gelu", [](const Inputs& x) { return hb::gelu(x[0]); }},
    {"gelu_tanh", [](const Inputs& x) { return hb::gelu(x[0], "tanh"); }},
    {"elu", [](const Inputs& x) { return hb::elu(x[0]); }},
    {"selu", [](const Inputs& x) { return hb::selu(x[0]); }},
    {"celu", [](const Inputs& x) { return hb::celu(x[0]); }},
    {"softplus", [](const Inputs& x) { return hb::softplus(x[0]); }},
    {"pow_number", [](const Inputs& x) { return hb::pow(x[0], 1.7); }},
    {"number_pow", [](const Inputs& x) { return hb::pow(1.7, x[0]); }},
};
#define HB_BINARY(name) {#name, [](const Inputs& x) { return hb::name(x[0], x[1]); }},
const std::vector<Row> kBinary = {
#include <halfbridge/ops/binary.def>
    {"add", [](const Inputs& x) { return hb::add(x[0], x[1], 0.3); }},
    {"lerp", [](const Inputs& x) { return hb::lerp(x[0], x[1], 0.3); }},
};

bool for_integers(const std::string& name) { return name.starts_with("bitwise") || name == "gcd" || name == "lcm"; }

bool without_gradient(const std::string& name) { return name == "floor_divide" || name.starts_with("igamma"); }

/// NaN is a value, too, whatever its bits are.
bool same(const Tensor& a, const Tensor& b) { return hb::equal(hb::nan_to_num(a, 77), hb::nan_to_num(b, 77)); }

/// The result and, where it has them, the gradients.
Inputs results(const Row& row, const Inputs& x) {
  Inputs leaves;
  for (const Tensor& t : x) leaves.push_back(t.detach().requires_grad_(!without_gradient(row.name)));
  const Tensor y = row.compute(leaves);
  if (!y.requires_grad()) return {y};
  y.backward(hb::full_like(y, 0.7));
  Inputs all{y.detach()};
  for (const Tensor& t : leaves) all.push_back(t.grad());
  return all;
}

void check(const std::vector<Row>& rows, const Inputs& x) {
  for (const Row& row : rows) {
    if (for_integers(row.name)) continue;
    const Inputs whole = results(row, x);
    for (int64_t n = 1; n <= 37; ++n) {
      Inputs part, strided;
      for (const Tensor& t : x)
        part.push_back(t.narrow(0, 2 * n, n).clone()), strided.push_back(t.slice(0, n, 3 * n, 2));
      const Inputs of_part = results(row, part), of_strided = results(row, strided);
      for (size_t k = 0; k < whole.size(); ++k) {
        if (!whole[k].defined()) continue;
        EXPECT_TRUE(same(of_part[k], whole[k].narrow(0, 2 * n, n))) << row.name << " " << k << ", " << n << " elements";
        EXPECT_TRUE(same(of_strided[k], whole[k].slice(0, n, 3 * n, 2))) << row.name << " " << k << ", strided " << n;
      }
    }
  }
}

/// Numbers of all sizes: in (0, 1), where most functions are defined, and beyond.
Inputs operands(hb::ScalarType t, int count) {
  hb::manual_seed(5);
  Inputs all;
  for (int i = 0; i < count; ++i) all.push_back(hb::cat({hb::rand({64}), hb::randn({64}).mul(4)}).to(t));
  return all;
}

TEST(PlaceOfValues, UnaryFunctions) {
  for (hb::ScalarType t : {hb::kFloat, hb::kDouble, hb::kHalf, hb::kBFloat16}) check(kUnary, operands(t, 1));
}

TEST(PlaceOfValues, BinaryFunctions) {
  for (hb::ScalarType t : {hb::kFloat, hb::kDouble, hb::kHalf, hb::kBFloat16}) check(kBinary, operands(t, 2));
}

}  // namespace

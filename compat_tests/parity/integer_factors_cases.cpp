// Fractions as factors of integral tensors; large integers as floating-point numbers.
#include "parity/case.h"

PARITY_CASE(integer_factors, addcmul) {
  c.for_dtypes({torch::kByte, torch::kShort, torch::kInt, torch::kLong}, [&](torch::Dtype dtype) {
    const torch::Tensor a = c.randint(0, 9, {3, 4}, dtype), b = c.randint(0, 9, {3, 4}, dtype);
    const torch::Tensor d = c.randint(0, 9, {4}, dtype);
    c.out("half", torch::addcmul(a, b, d, 0.5));
    c.out("most", torch::addcmul(a, b, d, 2.9));
    c.out("whole", torch::addcmul(a, b, d, 3));
    c.out("in_place", a.clone().addcmul_(b, d, 1.5));
    if (dtype != torch::kByte) c.out("below", torch::addcmul(a, b, d, -1.5));
    c.throws("division", [&] { torch::addcdiv(a, b, d, 0.5); });
  });
  const torch::Tensor whole = c.randint(0, 9, {3}, torch::kInt);
  c.out("promoted", torch::addcmul(c.randn({3}), whole, whole, 0.5));
  c.throws("too large", [&] { torch::addcmul(whole, whole, whole, 1e30); });
}

PARITY_CASE(integer_factors, other_functions) {
  const torch::Tensor a = c.randint(0, 9, {3}, torch::kLong), b = c.randint(0, 9, {3}, torch::kLong);
  const torch::Tensor at = torch::tensor({0, 2, 0});
  c.out("index_add", torch::index_add(a, 0, at, b, 1.5));
  c.out("index_add_", a.clone().index_add_(0, at, b, 2.9));
  const torch::Tensor m = c.randint(0, 9, {2, 2}, torch::kLong), stack = c.randint(0, 9, {3, 2, 2}, torch::kLong);
  c.out("addbmm", torch::addbmm(m, stack, stack, 1.5, 2.9));
  c.throws("addr beta", [&] { torch::addr(m, a.slice(0, 0, 2), b.slice(0, 0, 2), 1.5, 1); });
  c.throws("addr alpha", [&] { torch::addr(m, a.slice(0, 0, 2), b.slice(0, 0, 2), 1, 1.5); });
  c.throws("addcdiv of integers", [&] { torch::addcdiv(a.to(torch::kFloat), b, b, 0.5); });
  c.out("addcdiv", torch::addcdiv(a.to(torch::kFloat), b, c.rand({3}, torch::kFloat, 1, 2), 0.5));
  c.throws("places of ints", [&] { torch::index_fill(a, 0, at.to(torch::kInt), 1); });
}

PARITY_CASE(integer_factors, large_integers) {  // beside each bit, alone and among small ones
  std::vector<int64_t> values;
  for (int bit = 0; bit < 63; ++bit)
    for (int64_t near : {-1, 0, 1}) {
      const int64_t x = (int64_t{1} << bit) + near;
      values.insert(values.end(), {x, -x, near, bit});
    }
  values.insert(values.end(), {INT64_MAX, INT64_MIN, (int64_t{1} << 60) + (int64_t{1} << 36) + 1, 0, 0, 7});
  const torch::Tensor x = torch::tensor(values, torch::kLong);
  c.out("bits of float", x.to(torch::kFloat).view(torch::kInt));
  c.out("bits of double", x.to(torch::kDouble).view(torch::kLong));
  c.out("bits of bfloat16", x.to(torch::kBFloat16).view(torch::kShort));
}

// Numbers and 0-d tensors that a narrow integer dtype cannot hold: beside a tensor of that dtype they wrap around.
#include "parity/case.h"

using torch::Scalar;
using torch::Tensor;

namespace {

const parity::Dtypes kNarrow{torch::kByte, torch::kChar, torch::kShort, torch::kInt};
const std::vector<int64_t> kNumbers{44,   200,   255,    256,   300,     -1,         -56,
                                    -129, 32768, -40000, 65537, 1 << 24, 4294967340, -2147483649};

Tensor some(torch::Dtype dtype) {
  return torch::tensor(std::vector<int64_t>{0, 1, 44, 100, 127, 200, 255}, torch::kLong).to(dtype);
}

}  // namespace

PARITY_CASE(wrapped_numbers, comparisons) {
  c.for_dtypes(kNarrow, [&](torch::Dtype dtype) {
    const Tensor x = some(dtype);
    for (const int64_t n : kNumbers)
      c.scope(std::to_string(n), [&] {
        c.out("eq", x == n);
        c.out("ne", x != n);
        c.out("lt", x < n);
        c.out("ge", x >= n);
        c.out("in_place", x.clone().gt_(n));
        const Tensor single = torch::tensor(n);
        c.out("0d", x <= single);
        c.out("0d_first", single < x);
        Tensor out = torch::empty({0}, torch::kBool);
        c.out("0d_out", torch::eq_out(out, x, single));
      });
  });
}

PARITY_CASE(wrapped_numbers, arithmetic) {
  c.for_dtypes(kNarrow, [&](torch::Dtype dtype) {
    const Tensor x = some(dtype);
    for (const int64_t n : kNumbers)
      c.scope(std::to_string(n), [&] {
        const Tensor single = torch::tensor(n), in_dtype = single.to(dtype);
        if (in_dtype.item().toLong() != 0) {
          c.out("remainder", torch::remainder(x, n));
          c.out("fmod", torch::fmod(x, single));
          c.out("floor_divide", torch::floor_divide(x, n));
        }
        c.out("maximum", torch::maximum(x, single));
        c.out("minimum", torch::minimum(single, x));
        if (in_dtype.item().toLong() > 0) c.out("gcd", torch::gcd(x, single));
        c.out("add", x + n);
        c.out("multiply", single * x);
        c.out("and", x.bitwise_and(n));
      });
  });
}

PARITY_CASE(wrapped_numbers, bounds_of_bytes) {
  const Tensor x = some(torch::kByte);
  c.out("both", torch::clamp(x, -1, 100));
  c.out("low", torch::clamp_min(x, -5));
  c.out("high", torch::clamp_max(x, -100));
  c.out("in_place", x.clone().clamp_(-200, 300 - 45));
  c.throws("fraction", [&] { x.clone().fill_(-0.5); });
  c.throws("below", [&] { torch::full({2}, -1.0, torch::kByte); });
}

// Halves are compared in their own dtype, and a single one may be infinite.
PARITY_CASE(wrapped_numbers, halves) {
  c.for_dtypes({torch::kHalf, torch::kBFloat16}, [&](torch::Dtype dtype) {
    const Tensor x = c.values({0.1, 0.2, -0.1, 1e5, 3e38, 0.5}, dtype);
    for (const double n : {0.1, 0.2, 1e5, -1e30, 0.5})
      c.scope(std::to_string(n), [&] {
        for (const auto other : {torch::kFloat, torch::kDouble}) {
          const Tensor single = torch::tensor(n, other);
          const std::string of = parity::dtype_name(other);
          c.out("eq" + of, x == single);
          c.out("lt" + of, single < x);
          c.out("in_place" + of, x.clone().ge_(single));
        }
        c.out("number", x == n);
        Tensor changed = x.clone();
        changed[1] = n;
        c.out("assigned", changed);
        c.out("scalar_tensor", torch::scalar_tensor(n, dtype));
      });
  });
}

PARITY_CASE(wrapped_numbers, others) {
  const Tensor x = torch::tensor(std::vector<int64_t>{0, 44, 100}, torch::kLong);
  c.out("bool_and_number", x.to(torch::kBool) == 300);
  c.out("long_and_number", x == 4294967340);
  c.out("byte_and_char", x.to(torch::kByte) == torch::tensor(-1, torch::kChar));
  c.out("byte_and_double", x.to(torch::kByte) == 300.0);
  c.out("byte_and_bool", x.to(torch::kByte) == true);
}

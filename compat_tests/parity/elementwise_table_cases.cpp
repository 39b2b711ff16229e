// Every function of the tables of element-wise functions, with its gradient. Both libraries have each of
// them under the name of its row.
#include <functional>
#include <vector>

#include "parity/case.h"

namespace {

// Within the domains of nearly all functions; elsewhere both give NaN.
torch::Tensor input(parity::Case& c, torch::Dtype dtype) {
  return c10::isIntegralType(dtype, false) ? c.randint(1, 5, {3, 4}, dtype) : c.leaf_in(0.1, 0.9, {3, 4}, dtype);
}

// Whether the functions take the inputs; without the gradients that they do not have.
bool compare(parity::Case& c, const std::vector<torch::Tensor>& inputs,
             const std::function<torch::Tensor()>& function) {
  torch::Tensor y;
  try {
    y = function();
  } catch (const c10::Error&) {
    return false;
  }
  c.out("y", y);
  if (!y.requires_grad()) return true;
  try {
    c.backward("y", y, inputs);
  } catch (const c10::Error&) {
    c.text("gradient", "refused");
  }
  return true;
}

// In floating dtypes; in integers where it takes these alone. Halfbridge takes integers in some functions that refuse
// them in LibTorch.
void in_dtypes(parity::Case& c, const char* name, const std::function<bool(torch::Dtype)>& takes) {
  c.scope(name, [&] {
    // LibTorch's gradients of hardsigmoid and digamma are 3e-8 and 5e-10 off in double.
    c.tolerance(torch::kDouble, 1e-7, 1e-7);
    bool any = false;
    c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) { any = takes(dtype) || any; });
    if (!any) c.for_dtypes(parity::kInts, [&](torch::Dtype dtype) { any = takes(dtype) || any; });
    c.check(any, "takes some dtype");
  });
}

void unary(parity::Case& c, const char* name, torch::Tensor (*function)(const torch::Tensor&)) {
  in_dtypes(c, name, [&](torch::Dtype dtype) {
    const torch::Tensor x = input(c, dtype);
    return compare(c, {x}, [&] { return function(x); });
  });
}
void binary(parity::Case& c, const char* name, torch::Tensor (*function)(const torch::Tensor&, const torch::Tensor&)) {
  in_dtypes(c, name, [&](torch::Dtype dtype) {
    const torch::Tensor a = input(c, dtype), b = input(c, dtype);
    return compare(c, {a, b}, [&] { return function(a, b); });
  });
}

}  // namespace

PARITY_CASE(elementwise_table, unary) {
#define HB_UNARY(name) unary(c, #name, [](const torch::Tensor& x) { return torch::name(x); });
#include "../../include/halfbridge/ops/unary.def"
}

PARITY_CASE(elementwise_table, binary) {
#define HB_BINARY(name) \
  binary(c, #name, [](const torch::Tensor& a, const torch::Tensor& b) { return torch::name(a, b); });
#include "../../include/halfbridge/ops/binary.def"
}

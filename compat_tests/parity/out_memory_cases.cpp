// name_out(out, …) where `out` has the result's shape: functions may compute in its memory, but what they still read
// must stay, and what lies beside it, too.
#include "parity/case.h"

using torch::Tensor;

namespace {

using Write = std::function<Tensor&(Tensor& out, const Tensor& x, const Tensor& y)>;

/// Functions of two tensors, many of them composed of others.
const std::vector<std::pair<const char*, Write>>& functions() {
#define OF(name, ...)                                                                                   \
  {                                                                                                     \
#name, [](Tensor & out, [[maybe_unused]] const Tensor& x,                                           \
              [[maybe_unused]] const Tensor& y) -> Tensor& { return at::name##_out(out, __VA_ARGS__); } \
  }
  static const std::vector<std::pair<const char*, Write>> all{
      OF(pow, x.abs(), y),
      OF(pow, x, 2),
      OF(lerp, x, y, 0.3),
      OF(lerp, x, y, y),
      OF(addcmul, x, y, y, 0.5),
      OF(addcmul, y, x, y, 0.5),
      OF(addcdiv, y, x, y, 0.5),
      OF(maximum, x, y),
      OF(leaky_relu, x, 0.1),
      OF(leaky_relu, y, 0.1),
      OF(gelu, x, "tanh"),
      OF(softplus, y),
      OF(hypot, x, y),
      OF(atan2, y, x),
      OF(logaddexp, x, y),
      OF(logaddexp, y, x),
      OF(copysign, x, y),
      OF(float_power, x.to(torch::kDouble).abs(), 2),
      OF(ldexp, x, y),
      OF(nan_to_num, x),
      OF(sinc, x),
      OF(logit, x, 0.2),
      OF(xlogy, x, y.abs()),
      OF(heaviside, x, y),
      OF(clamp, x, -0.5, 0.5),
      OF(clamp, x, y, y + 1),
      OF(huber_loss, x, y, at::Reduction::None, 0.5),
      OF(smooth_l1_loss, x, y, at::Reduction::None, 0.5),
      OF(mse_loss, x, y, at::Reduction::None),
      OF(binary_cross_entropy, x.sigmoid(), y.sigmoid(), {}, at::Reduction::None),
      OF(softmax, x, 1),
      OF(log_softmax, x, 1),
      OF(cumsum, x, 0),
      OF(cumprod, x, 1),
      OF(logcumsumexp, x, 1),
      OF(sub, x, y, 2),
      OF(rsub, x, y, 2),
      OF(div, x, y, "floor"),
      OF(remainder, x, y),
      OF(where, x > 0, x, y),
  };
#undef OF
  return all;
}

Tensor fitting(const char* name, const Tensor& x) {
  return torch::full_like(x, 5, x.options().dtype(std::string(name) == "float_power" ? torch::kDouble : torch::kFloat));
}

}  // namespace

PARITY_CASE(out_memory, own) {
  const Tensor x = c.randn({4, 5}), y = c.randn({4, 5});
  int number = 0;
  for (const auto& [name, write] : functions()) {
    const std::string row = std::to_string(number++) + ' ' + name;
    Tensor out = fitting(name, x), seen = fitting(name, x);
    const int64_t before = out._version();
    c.check(write(out, x, y).is_same(out), "the out tensor comes back");
    c.check(out._version() > before, "the version counts it");
    const void* const address = seen.data_ptr();
    write(seen, x, y);
    c.check(seen.data_ptr() == address, "the memory stays");
    c.out(row, out), c.out(row + ", seen", seen);
    Tensor turned = fitting(name, x.t()).t();
    write(turned, x.t().contiguous().t(), y.t().contiguous().t());
    c.out(row + ", by columns", turned);
    Tensor whole = torch::full({6, 5}, 9, out.options()), part = whole.narrow(0, 1, 4);
    write(part, x, y);
    c.out(row + ", a part", whole);
    Tensor wide = torch::full({4, 10}, 9, out.options()), strided = wide.slice(1, 0, 10, 2);
    write(strided, x, y);
    c.out(row + ", with gaps", wide);
  }
}

PARITY_CASE(out_memory, of_an_argument) {
  int number = 0;
  for (const auto& [name, write] : functions()) {
    const std::string row = std::to_string(number++) + ' ' + name;
    if (std::string(name) == "float_power") continue;
    const Tensor first = c.randn({4, 5}), second = c.randn({4, 5});
    Tensor x = first.clone(), y = second.clone();
    c.out(row + ", the first", write(x, x, second));
    c.out(row + ", the second", write(y, first, y));
    Tensor z = first.clone(), alias = z.view({4, 5});
    c.out(row + ", an alias", write(alias, z, second));
    c.out(row + ", what it shares", z);
  }
}

PARITY_CASE(out_memory, square) {
  const Tensor x = c.randn({4, 4}), y = c.randn({4, 4}), positive = x.mm(x.t()) + torch::eye(4);
  const auto row = [&](const char* name, const std::function<void(Tensor&)>& write) {
    Tensor out = torch::full({4, 4}, 5.f), turned = torch::full({4, 4}, 5.f).t();
    write(out), write(turned);
    c.out(name, out), c.out(std::string(name) + ", turned", turned);
  };
  row("t_copy", [&](Tensor& out) { at::t_copy_out(out, x); });
  row("transpose_copy", [&](Tensor& out) { at::transpose_copy_out(out, x, 0, 1); });
  row("matrix_exp", [&](Tensor& out) { at::linalg_matrix_exp_out(out, x * 0.1); });
  row("inverse", [&](Tensor& out) { at::linalg_inv_out(out, positive); });
  row("cholesky", [&](Tensor& out) { at::linalg_cholesky_out(out, positive, true); });
  row("solve", [&](Tensor& out) { at::linalg_solve_out(out, positive, y); });
  row("solve from the right", [&](Tensor& out) { at::linalg_solve_out(out, positive, y, false); });
  row("kron",
      [&](Tensor& out) { at::kron_out(out, x.narrow(0, 0, 2).narrow(1, 0, 2), y.narrow(0, 0, 2).narrow(1, 0, 2)); });
  row("outer", [&](Tensor& out) { at::outer_out(out, x[0], y[0]); });
  row("addr", [&](Tensor& out) { at::addr_out(out, x, x[0], y[0]); });
  row("mm", [&](Tensor& out) { at::mm_out(out, x, y.t()); });
  row("index_select", [&](Tensor& out) { at::index_select_out(out, x, 1, torch::tensor({3, 2, 1, 0})); });
  row("gather", [&](Tensor& out) { at::gather_out(out, x, 0, torch::zeros({4, 4}, torch::kLong)); });
  row("tril", [&](Tensor& out) { at::tril_out(out, x); });
  row("cat", [&](Tensor& out) { at::cat_out(out, {x.narrow(0, 0, 2), y.narrow(0, 0, 2)}, 0); });
  row("stack", [&](Tensor& out) { at::stack_out(out, {x[0], x[1], y[0], y[1]}, 1); });
  row("cdist", [&](Tensor& out) { at::_cdist_forward_out(out, x, y, 2, 1); });
  row("polynomial", [&](Tensor& out) { at::special_hermite_polynomial_h_out(out, x, y.abs() * 3); });
  row("rows of the same tensor", [&](Tensor& out) {
    const Tensor whole = torch::cat({x, y});
    at::index_select_out(out, whole, 0, torch::tensor({7, 0, 3, 3}));
  });
}

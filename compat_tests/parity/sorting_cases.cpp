#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(sorting, sort) {
  for (auto dtype : parity::kAll) {
    auto x = c.any({4, 9}, dtype);
    const auto sorted = x.sort(true, 1, false);  // stable: the order of equals is fixed
    c.out(parity::dtype_name(dtype), std::get<0>(sorted));
    c.out(parity::dtype_name(dtype) + "_index", std::get<1>(sorted));
  }
  c.for_layouts({5, 6}, torch::kFloat, [&](Tensor x) {
    if (x.stride(0) == 0) return;  // equal elements: the order is not fixed
    x.requires_grad_();
    const auto sorted = x.sort(0, /*descending=*/true);
    c.out("index", std::get<1>(sorted));
    c.backward("y", std::get<0>(sorted), {x});
  });
  const auto special = c.special().sort();
  c.out("special", std::get<0>(special));
  c.out("argsort", c.randn({3, 5}).argsort(1, true));
  c.out("msort", torch::msort(c.randn({4, 3})));
  c.out("long", std::get<0>(c.randn({5000}).sort()));
}

PARITY_CASE(sorting, topk) {
  auto x = c.leaf({4, 9});
  const auto top = x.topk(3);
  c.out("values", std::get<0>(top));
  c.out("indices", std::get<1>(top));
  c.backward("y", std::get<0>(top), {x});
  const auto low = torch::topk(x, 2, 0, /*largest=*/false);
  c.out("smallest", std::get<0>(low));
  c.out("smallest_indices", std::get<1>(low));
  c.throws("k", [&] { x.topk(10); });
}

PARITY_CASE(sorting, kthvalue) {
  const auto third = torch::kthvalue(c.randn({4, 7}), 3, 1, true);
  c.out("values", std::get<0>(third));
  c.out("indices", std::get<1>(third));
}

PARITY_CASE(sorting, unique) {
  auto x = c.randint(0, 6, {20});
  const auto all = at::_unique2(x, true, true, true);
  c.out("values", std::get<0>(all));
  c.out("inverse", std::get<1>(all));
  c.out("counts", std::get<2>(all));
}

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

// Lines short enough to be compared with as a whole, and long ones; more values than a vector has, a NaN among them.
PARITY_CASE(sorting, many_searches) {
  for (auto dtype :
       {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kHalf, torch::kLong, torch::kInt, torch::kByte})
    c.scope(parity::dtype_name(dtype), [&] {
      auto values = c.randint(0, 40, {5, 23}).to(dtype);
      if (torch::isFloatingType(dtype)) values.select(1, 3).fill_(NAN);
      for (int64_t n : {1, 9, 24, 25, 100})
        for (bool right : {false, true}) {
          const auto line = std::get<0>(c.randint(0, 40, {n}).to(dtype).sort());
          c.out(std::to_string(n), torch::bucketize(values, line, /*out_int32=*/false, right));
        }
    });
}

// Long enough for the value of one rank to be found without an order.
PARITY_CASE(sorting, long_medians) {
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kLong})
    c.scope(parity::dtype_name(dtype), [&] {
      const auto x = c.randn({3, 700}).mul(30).to(dtype);
      c.out("all", x.median());
      c.out("rows", std::get<0>(x.median(1)));
      c.out("place", std::get<0>(x.kthvalue(600, 1)));
      if (!torch::isFloatingType(dtype)) return;
      auto holes = x.clone();
      holes.select(0, 1).select(0, 5).fill_(NAN);
      c.out("nan", holes.median());
      c.out("nan_rows", std::get<0>(holes.median(1)));
      c.out("nanmedian", torch::nanmedian(holes));
      c.out("infinite", holes.fill_(INFINITY).median());
    });
}

// Ties, of lines in each dimension.
PARITY_CASE(sorting, modes) {
  for (auto dtype :
       {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kHalf, torch::kLong, torch::kInt, torch::kByte})
    c.scope(parity::dtype_name(dtype), [&] {
      const auto x = c.randint(0, 7, {9, 6, 5}).to(dtype);
      for (int64_t d = 0; d < 3; ++d) {
        c.out("values", std::get<0>(x.mode(d)));
        c.out("places", std::get<1>(x.mode(d)));
      }
    });
  c.out("far", std::get<0>(torch::tensor({1 << 30, -5, -5, 1 << 30, 7}, torch::kInt).mode(0)));
}

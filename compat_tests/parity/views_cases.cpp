#include "parity/case.h"

using torch::indexing::Slice;

PARITY_CASE(views, transpose_and_permute) {
  auto x = c.leaf({2, 3, 4});
  c.gradients("transpose", {x}, [&] { return x.transpose(0, 2); });
  c.gradients("permute", {x}, [&] { return x.permute({2, 0, 1}); });
  c.layout("transpose_layout", x.transpose(0, 2));
  c.layout("permute_layout", x.permute({2, 0, 1}));
}

PARITY_CASE(views, view_and_reshape) {
  c.for_layouts({4, 6}, torch::kFloat, [&](torch::Tensor x) {
    x.requires_grad_();
    c.gradients("reshape", {x}, [&] { return x.reshape({3, -1}); });
    c.layout("reshape_layout", x.reshape({2, 2, 6}));
  });
  c.throws("view_of_transposed", [&] { c.randn({3, 4}).t().view({12}); });
  c.throws("wrong_count", [&] { c.randn({3, 4}).view({5, 2}); });
}

PARITY_CASE(views, slices_alias) {
  auto x = c.arange({4, 5});
  x.index({Slice(1, 3), Slice(torch::indexing::None, torch::indexing::None, 2)}).fill_(-1);
  c.out("written_through", x);
  c.layout("slice", x.slice(1, 1, 5, 2));
  c.out("select", x.select(0, -1));
  c.out("empty_slice", x.slice(0, 2, 2));
}

PARITY_CASE(views, expand) {
  auto x = c.leaf({3, 1}, torch::kDouble);
  c.gradients("y", {x}, [&] { return x.expand({2, 3, 4}); });
  c.layout("layout", x.expand({2, 3, 4}));
  c.gradcheck([&] { return x.expand({2, 3, 4}) * 2; }, {x});
}

PARITY_CASE(views, printed) {
  c.printed("floats", c.arange({2, 3}));
  c.printed("ints", c.arange({2, 3}, torch::kLong));
}

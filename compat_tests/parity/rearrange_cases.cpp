// Joining, splitting, repeating, turning; copies and conversions.
#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(rearrange, cat_and_stack) {
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) {
    c.out("cat0", torch::cat({c.any({2, 3}, dtype), c.any({1, 3}, dtype)}));
    c.out("cat1", torch::cat({c.any({2, 3}, dtype), c.any({2, 2}, dtype)}, 1));
    c.out("stack", torch::stack({c.any({2, 3}, dtype), c.any({2, 3}, dtype)}, -1));
  });
  auto a = c.leaf({2, 3}), b = c.leaf({2, 2}), e = c.leaf({2, 0});
  c.gradients("cat", {a, b, e}, [&] { return torch::cat({a, e, b, a}, 1); });
  c.gradients("stack", {a}, [&] { return torch::stack({a, a * 2}, 1); });
  c.out("mixed_dtypes", torch::cat({c.randn({2}), c.randint(0, 5, {3})}));
  c.out("transposed", torch::cat({c.randn({3, 4}).t(), c.randn({4, 2})}, 1));
  c.out("hstack", torch::hstack({c.randn({2, 2}), c.randn({2, 1})}));
  c.out("vstack", torch::vstack({c.randn({3}), c.randn({3})}));
  c.throws("shapes", [&] { torch::cat({c.randn({2, 3}), c.randn({2, 2})}, 0); });
  c.throws("stack_shapes", [&] { torch::stack({c.randn({2}), c.randn({3})}); });
  c.throws("empty_list", [&] { torch::cat(std::vector<Tensor>{}); });
}

PARITY_CASE(rearrange, split_and_chunk) {
  auto x = c.leaf({7, 4});
  auto record = [&](const char* name, const std::vector<Tensor>& parts) {
    c.value(std::string(name) + ".count", static_cast<int64_t>(parts.size()));
    for (size_t i = 0; i < parts.size(); ++i) c.out(name + std::to_string(i), parts[i]);
    c.backward(name, parts.back() * 2, {x});
  };
  record("split", x.split(3));
  record("split_sizes", torch::split_with_sizes(x, {1, 4, 2}));
  record("chunk", x.chunk(3, 0));
  record("chunk1", x.chunk(2, 1));
  record("unbind", x.unbind(1));
  record("tensor_split", torch::tensor_split(x, 3, 0));
  c.throws("sizes", [&] { torch::split_with_sizes(x, {1, 2}); });
}

PARITY_CASE(rearrange, repeat) {
  auto x = c.leaf({2, 3});
  c.gradients("repeat", {x}, [&] { return x.repeat({2, 1, 2}); });
  c.gradients("tile", {x}, [&] { return x.tile({2}); });
  c.gradients("interleave", {x}, [&] { return x.repeat_interleave(2, 1); });
  c.gradients("interleave_tensor", {x}, [&] { return x.repeat_interleave(torch::tensor({1, 3}), 0); });
  c.out("interleave_flat", torch::repeat_interleave(x.detach(), 2));
  c.throws("too_few", [&] { x.repeat({2}); });
}

PARITY_CASE(rearrange, turn) {
  auto x = c.leaf({3, 4, 2});
  c.gradients("flip", {x}, [&] { return x.flip({0, 2}); });
  c.gradients("roll", {x}, [&] { return x.roll({1, -1}, {0, 1}); });
  c.gradients("roll_flat", {x}, [&] { return x.roll(5); });
  c.gradients("rot90", {x}, [&] { return torch::rot90(x, 1, {0, 1}); });
  auto m = c.leaf({4, 5});
  c.gradients("tril", {m}, [&] { return m.tril(-1); });
  c.gradients("triu", {m}, [&] { return m.triu(1); });
  c.gradients("diag_of_matrix", {m}, [&] { return m.diag(1); });
  auto v = c.leaf({3});
  c.gradients("diag_of_vector", {v}, [&] { return torch::diag(v, -1); });
  c.gradients("diag_embed", {v}, [&] { return torch::diag_embed(v); });
  c.gradients("diagonal", {x}, [&] { return x.diagonal(0, 0, 1); });
  c.out("batched_tril", torch::tril(c.randn({2, 3, 3})));
  c.out("bool_triu", torch::triu(torch::ones({3, 3}, torch::kBool), 1));
}

PARITY_CASE(rearrange, meshgrid) {
  auto grids = torch::meshgrid({c.randn({3}), c.randn({2})}, "ij");
  c.out("ij0", grids[0]);
  c.out("ij1", grids[1]);
  auto xy = torch::meshgrid({c.randn({3}), c.randn({2})}, "xy");
  c.out("xy0", xy[0]);
}

PARITY_CASE(rearrange, conversions) {
  for (auto from : parity::kAll) {
    for (auto to : parity::kAll) {
      auto x = c.any({6}, from);
      c.out(parity::dtype_name(from) + "_to_" + parity::dtype_name(to), x.to(to));
    }
  }
  c.out("f32_to_bf16", c.randn({500}).to(torch::kBFloat16));
  c.out("f32_to_f16", c.randn({500}).to(torch::kHalf));
  c.out("special_to_bf16", c.special().to(torch::kBFloat16));
  c.out("special_to_f16", c.special().to(torch::kHalf));
  c.out("f64_to_f16", c.randn({100}, torch::kDouble).to(torch::kHalf));
  c.out("ties", c.values({1 + 0x1p-8, 1 + 0x1.8p-7, 1 + 0x1p-11}).to(torch::kBFloat16));
  auto x = c.leaf({3});
  c.gradients("through_half", {x}, [&] { return x.to(torch::kHalf) * 2; });
  c.gradients("through_double", {x}, [&] { return x.to(torch::kDouble).exp(); });
  c.check(x.to(torch::kFloat).is_same(x), "to() of the same dtype is the same tensor");
  c.out("type_as", x.detach().type_as(c.randn({1}, torch::kDouble)));
  c.out("item", torch::tensor(x.detach()[0].item<float>()));
  c.throws("item_of_many", [&] { x.item(); });
}

PARITY_CASE(rearrange, copies) {
  c.for_layouts({4, 5}, torch::kFloat, [&](Tensor x) {
    c.out("clone", x.clone());
    c.layout("clone_layout", x.clone());
    c.layout("contiguous_layout", x.contiguous());
    c.layout("empty_like_layout", torch::empty_like(x));
    c.out("copy_", torch::zeros({4, 5}, torch::kDouble).copy_(x));
  });
  auto x = torch::zeros({3, 4});
  x.t().copy_(c.randn({4, 3}));
  c.out("into_view", x);
  x.copy_(c.randn({4}));
  c.out("broadcast", x);
  c.out("bf16_from_f32", torch::zeros({3}, torch::kBFloat16).copy_(c.randn({3})));
  c.throws("shapes", [&] { torch::zeros({3}).copy_(c.randn({4})); });
}

PARITY_CASE(rearrange, clamp) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({4, 5}, dtype);
    c.gradients("both", {x}, [&] { return x.clamp(-0.5, 0.5); });
    c.gradients("min", {x}, [&] { return x.clamp_min(0); });
    c.gradients("max", {x}, [&] { return torch::clamp(x, {}, 0.25); });
    c.out("special", c.special(dtype).clamp(-1, 1));
  });
  c.out("integers", c.randint(-9, 10, {8}).clamp(-2, 3));
  c.out("in_place", c.randn({6}).clamp_(-0.1, 0.1));
  c.out("tensors", torch::clamp(c.randn({3, 4}), c.values({-1, -0.5, 0, 0}), c.values({0, 0.5, 1, 0})));
  c.out("nan_to_num", torch::nan_to_num(c.special(), 0.5, 10, -10));
  c.out("nan_to_num_default", torch::nan_to_num(c.special()));
}

PARITY_CASE(rearrange, roll) {
  auto x = c.leaf({3, 5, 7, 2});
  c.gradients("two", {x}, [&] { return x.roll({-3, 2}, {1, -2}); });
  c.gradients("all", {x}, [&] { return x.roll({1, 4, 6, 1}, {0, 1, 2, 3}); });
  c.gradients("one_twice", {x}, [&] { return x.roll({2, 2}, {1, 1}); });
  c.gradients("whole_turns", {x}, [&] { return x.roll({5, -14}, {1, 2}); });
  c.gradients("beyond", {x}, [&] { return x.roll(-23, 2); });
  c.gradients("turned", {x}, [&] { return x.transpose(0, 2).roll({1, 1}, {0, 3}); });
  c.layout("of_turned", x.detach().transpose(0, 2).roll(1, 0));
  c.out("empty", torch::zeros({2, 0, 3}).roll({1, 1}, {0, 2}));
  c.out("integers", c.randint(-9, 9, {600, 5}).roll({-1, 2}, {0, 1}));
  auto y = c.leaf({2, 3}, torch::kDouble);
  c.gradgradcheck([&] { return y.roll({1, 1}, {0, 1}).pow(3); }, {y});
}

// Rows of all lengths, and long ones that move by a few bytes.
PARITY_CASE(rearrange, rows_moved) {
  for (int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65, 513, 1100}) {
    auto x = c.randint(-100, 100, {3, n + 20});
    for (auto dtype : {torch::kChar, torch::kShort, torch::kFloat, torch::kDouble})
      for (int64_t by : {0, 1, 3, 9}) {
        auto out = torch::zeros({3, n + 20}, dtype);
        out.narrow(1, by, n).copy_(x.to(dtype).narrow(1, 2, n));
        c.out(std::to_string(n) + "_" + parity::dtype_name(dtype) + "_" + std::to_string(by), out);
      }
  }
  auto x = c.leaf({2, 3000});
  for (int64_t by : {1, 3, -2}) c.gradients("roll" + std::to_string(by), {x}, [&] { return x.roll(by, 1); });
}

PARITY_CASE(rearrange, many_rows_rolled) {
  c.for_dtypes({torch::kChar, torch::kHalf, torch::kFloat, torch::kLong, torch::kComplexDouble},
               [&](torch::Dtype dtype) {
                 c.out("last", c.any({40, 7}, dtype).roll(-2, 1));
                 c.out("middle", c.any({2, 20, 3, 5}, dtype).roll(1, 2));
               });
  auto x = c.leaf({16, 33});
  c.gradients("gradient", {x}, [&] { return x.roll(4, 1); });
}

PARITY_CASE(rearrange, every_second) {
  c.for_dtypes({torch::kHalf, torch::kFloat, torch::kDouble, torch::kComplexDouble}, [&](torch::Dtype dtype) {
    for (int64_t n : {1, 2, 7, 16, 33, 66})
      for (int64_t from : {0, 1, 4}) {
        auto x = c.leaf({3, n}, dtype);
        const auto name = std::to_string(n) + "_" + std::to_string(from);
        c.gradients(name, {x}, [&] { return x.slice(1, from, torch::nullopt, 2).clone(); });
        c.gradients(name + "_up_to", {x}, [&] { return x.slice(1, from, n - 3, 2).clone(); });
      }
    auto x = c.leaf({2, 3, 20}, dtype);
    c.gradients("both", {x}, [&] { return x.slice(2, 0, 20, 2) * x.slice(2, 1, 20, 2); });
    c.gradients("overlapping", {x}, [&] { return x.slice(2, 0, 20, 2) + x.slice(2, 0, 10); });
  });
}

PARITY_CASE(rearrange, repeat_long) {
  auto x = c.leaf({2, 1, 700}), wide = c.leaf({3, 600}, torch::kDouble);
  c.gradients("rows", {x}, [&] { return x.repeat({3, 1, 1}); });
  c.gradients("many_rows", {x}, [&] { return x.repeat({2, 130, 1}); });
  c.gradients("interleave", {x}, [&] { return x.repeat_interleave(2, 1); });
  c.gradients("interleave_last", {x}, [&] { return x.repeat_interleave(3, 2); });
  c.gradients("double", {wide}, [&] { return wide.repeat({2, 2}); });
  auto half = c.leaf({3, 600}, torch::kHalf);
  c.gradients("half", {half}, [&] { return half.repeat({2, 1}); });
}

PARITY_CASE(rearrange, unfold_gradients) {
  auto x = c.leaf({3, 11, 4});
  for (auto [size, step] : {std::pair<int64_t, int64_t>{3, 1}, {2, 3}, {4, 4}, {9, 1}, {1, 1}, {11, 2}, {5, 2}})
    c.gradients(std::to_string(size) + "_" + std::to_string(step), {x},
                [&, n = size, by = step] { return x.unfold(1, n, by) * 1; });
  c.gradients("patches", {x}, [&] { return x.slice(1, 0, 9).unfold(1, 3, 3).unfold(2, 2, 2).contiguous(); });
  auto y = c.leaf({2, 5}, torch::kDouble);
  c.gradgradcheck([&] { return y.unfold(1, 2, 2).pow(3); }, {y});
  c.gradgradcheck([&] { return y.unfold(1, 3, 1).pow(3); }, {y});
}

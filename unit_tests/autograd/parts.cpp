// Gradients of parts of a tensor, which a pass puts side by side, beside those of a pass that records a graph: there
// each is put among zeros, and these are added.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <functional>

namespace {

using hb::Tensor;
using Function = std::function<Tensor(const Tensor&)>;

/// Small whole numbers: their sums are the same in any order.
Tensor numbers(hb::IntArrayRef sizes) { return hb::randint(1, 9, sizes, hb::kFloat); }

/// The sum of the parts, each times numbers of its own.
Tensor total(const std::vector<Tensor>& parts) {
  hb::manual_seed(5);
  Tensor sum;
  for (const Tensor& p : parts) {
    const Tensor term = (p * numbers(p.sizes())).sum();
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

void expect_same(const Function& f, hb::IntArrayRef sizes = {4, 6, 5}) {
  hb::manual_seed(3);
  const Tensor x = numbers(sizes).requires_grad_();
  const Tensor apart = hb::autodiff::grad({f(x)}, {x}, {}, std::nullopt, true)[0];
  EXPECT_TRUE(hb::autodiff::grad({f(x)}, {x})[0].equal(apart));
  f(x).backward();
  EXPECT_TRUE(x.grad().equal(apart));
}

/// The most memory that the backward pass of f(x) takes, in sizes of x.
double peak(const Function& f, const Tensor& x) {
  const Tensor loss = f(x);
  const size_t before = hb::memory_in_use();
  hb::reset_peak_memory();
  loss.backward();
  return static_cast<double>(hb::peak_memory() - before) / static_cast<double>(x.numel() * sizeof(float));
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  return hb::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
}

}  // namespace

TEST(PartsOfGradient, LieWhereTheyBelong) {
  expect_same([](const Tensor& x) { return total({x.select(1, 0), x.select(1, 3)}); });
  expect_same([](const Tensor& x) { return total({x.select(0, 3), x.select(0, 0), x.select(0, 2), x.select(0, 1)}); });
  expect_same([](const Tensor& x) { return total({x.slice(2, 1, 2), x.slice(2, 3, 5)}); });
  expect_same([](const Tensor& x) { return total({x.slice(1, 0, 6, 2), x.slice(1, 3, 6, 2)}); });
  expect_same([](const Tensor& x) { return total({x.slice(1, 4, 4), x.slice(1, 0, 2)}); });
  expect_same([](const Tensor& x) { return total({x.select(1, 2).slice(1, 1, 3), x.select(1, 2).select(0, 3)}); });
  expect_same([](const Tensor& x) {
    const Tensor turned = (x * 2).permute({2, 0, 1});
    return total({turned[1], turned[4]});
  });
  expect_same([](const Tensor& x) {
    return total({x.expand({3, 4, 6, 5}).select(0, 1), x.unsqueeze(1).select(1, 0)});
  });
}

TEST(PartsOfGradient, ThatMeetAreAdded) {
  expect_same([](const Tensor& x) { return total({x.slice(1, 0, 4), x.slice(1, 2, 6), x.slice(1, 1, 3)}); });
  expect_same([](const Tensor& x) { return total({x.select(0, 1), x.select(0, 1), x.select(1, 1)}); });
  expect_same([](const Tensor& x) { return total({x.slice(1, 0, 6, 2), x.slice(1, 0, 6, 3)}); });
}

TEST(PartsOfGradient, OfDifferentDimensionsCross) {
  expect_same([](const Tensor& x) { return total({x.select(0, 0), x.select(1, 1)}); });
  expect_same([](const Tensor& x) { return total({x.slice(1, 0, 2), x.slice(0, 2, 4), x.select(2, 3)}); });
  expect_same([](const Tensor& x) { return total({x.slice(1, 50, 60), x.select(0, 0)}); }, {2, 100});
  expect_same([](const Tensor& x) { return total({x.slice(1, 4, 4), x.slice(0, 0, 2)}); });
}

TEST(PartsOfGradient, AreAddedToOthersOfTheWhole) {
  expect_same([](const Tensor& x) { return total({x, x.select(0, 1), x.select(0, 2)}); });
  expect_same([](const Tensor& x) { return total({x.select(0, 1), x.select(0, 2), x}); });
  expect_same([](const Tensor& x) {
    const Tensor part = x.slice(0, 0, 2), whole = x.relu(), other = x.slice(0, 2, 4);
    return total({part, whole, other});
  });
}

// What a convolution brings lies channels-last until somebody looks.
TEST(PartsOfGradient, AreAddedToDeferredGradientsOfTheWhole) {
  for (const int64_t channels : {2, 32}) {
    const Tensor weight = numbers({channels, channels, 3, 3});
    expect_same(
        [&](const Tensor& x) {
          const Tensor part = x.select(1, 1), slice = x.slice(1, 0, 2);
          return total({hb::conv2d(x, weight, {}, 1, 1), part, slice});
        },
        {2, channels, 4, 5});
  }
}

TEST(PartsOfGradient, TakeTheMemoryOfOneWhole) {
  const Tensor x = hb::randn({16, 64, 64}).requires_grad_();
  const auto all = [](const Tensor& t) {
    Tensor sum = t[0].sum();
    for (int64_t i = 1; i < t.size(0); ++i) sum = sum + (t[i] * 2).sum();
    return sum;
  };
  EXPECT_LT(peak(all, x), 1.5);
}

TEST(PartsOfGradient, HooksSeeWhatLibTorchsSee) {
  const Tensor x = numbers({3, 4, 5}).requires_grad_(), whole = (x * 1).permute({2, 0, 1}), part = whole[1];
  Tensor of_whole, of_part;
  whole.register_hook([&](const Tensor& g) { of_whole = g; });
  part.register_hook([&](const Tensor& g) { of_part = g; });
  total({part, whole[3]}).backward();
  EXPECT_TRUE(of_whole.is_contiguous());
  EXPECT_TRUE(of_whole[1].equal(of_part));
  EXPECT_TRUE(of_whole[0].equal(hb::zeros({3, 4})));
  EXPECT_TRUE(x.grad().equal(of_whole.permute({1, 2, 0})));
}

TEST(PartsOfGradient, AttentionWritesThemInPlace) {
  const auto parts_of = [](const Tensor& x) { return x.view({2, 32, 3, 4, 8}).permute({2, 0, 3, 1, 4}); };
  const Tensor x = hb::randn({2, 32, 3 * 4 * 8}).requires_grad_();
  const auto loss = [&](const Tensor& t) {
    const Tensor p = parts_of(t);
    return attention(p[0], p[1], p[2]).sum();
  };
  const Tensor apart = hb::autodiff::grad({loss(x)}, {x}, {}, std::nullopt, true)[0];
  loss(x).backward();
  EXPECT_TRUE(x.grad().allclose(apart, 1e-5, 1e-6));
  const Tensor wide = hb::randn({2, 256, 3 * 4 * 8}).requires_grad_();
  const auto of_wide = [](const Tensor& t) {
    const Tensor p = t.view({2, 256, 3, 4, 8}).permute({2, 0, 3, 1, 4});
    return attention(p[0], p[1], p[2]).sum();
  };
  EXPECT_LT(peak(of_wide, wide),
            2.1);  // the whole, and the gradient of the result; parts of their own would be another
}

TEST(PartsOfGradient, OfAttentionMeetOthersOnTheWay) {
  const Function uses[] = {
      // the whole gets another gradient while its parts are made
      [](const Tensor& p) {
        const Tensor q = p[0], k = p[1], v = p[2], whole = p * 2;
        return total({attention(q, k, v), whole});
      },
      // a part has another use, or is two arguments
      [](const Tensor& p) {
        const Tensor q = p[0], other = q * 2;
        return total({attention(q, p[1], p[2]), other});
      },
      [](const Tensor& p) {
        const Tensor q = p[0];
        return total({attention(q, q, p[2])});
      },
      // two parts are the same place
      [](const Tensor& p) {
        return total({attention(p[0], p[0], p[2]), p[1]});
      },
      // elements of a row lie apart
      [](const Tensor& p) {
        const Tensor t = p.view({3, 2, 2, 8, 7}).transpose(3, 4);
        return total({attention(t[0], t[1], t[2])});
      },
  };
  hb::manual_seed(4);
  for (const Function& use : uses) {
    const Tensor x = hb::randn({3, 2, 2, 7, 8}).requires_grad_();
    const Tensor apart = hb::autodiff::grad({use(x)}, {x}, {}, std::nullopt, true)[0];
    use(x).backward();
    EXPECT_TRUE(x.grad().allclose(apart, 1e-4, 1e-5));
    EXPECT_TRUE(hb::autodiff::grad({use(x)}, {x})[0].allclose(apart, 1e-4, 1e-5));
  }
}

// Parts that share a node: what is in its place is not copied, the rest is joined to it. Where hooks may look, all are
// joined at the end.
TEST(PartsOfGradient, OfOneNodeLieWhereTheyBelong) {
  using Parts = std::vector<Tensor>;
  using Seen = const std::function<Parts(const Parts&)>&;
  const std::function<Tensor(const Tensor& x, Seen seen)> uses[] = {
      [](const Tensor& x, Seen seen) {
        const Parts p = seen(x.unbind(0));
        return total({attention(p[0], p[1], p[2])});
      },
      [](const Tensor& x, Seen seen) {  // 8 of 24 columns each
        const Parts p = seen(x.select(0, 1).split(8, 3));
        return total({attention(p[0], p[1], p[2])});
      },
      [](const Tensor& x, Seen seen) {  // a part that nobody uses, and one that others use, too
        const Parts p = seen(x.unbind(0));
        const Tensor other = p[1] * 2, again = p[0].relu();
        return total({attention(p[1], p[1], p[0]), other, again});
      },
      [](const Tensor& x, Seen seen) {  // the whole has another use
        const Tensor y = x * 2;
        const Parts p = seen(y.chunk(3, 0));
        return total({attention(p[0][0], p[1][0], p[2][0]), y.relu()});
      },
      [](const Tensor& x, Seen seen) {  // three arguments that are one part
        const Parts p = seen(x.permute({1, 0, 2, 3, 4}).unbind(1));
        return total({attention(p[2], p[2], p[2]), p[0]});
      },
  };
  hb::manual_seed(4);
  const auto hooked = [](const Parts& parts) {
    parts[0].register_hook([](const Tensor&) { return Tensor(); });
    return parts;
  };
  for (const auto& use : uses) {
    const Tensor x = hb::randn({3, 2, 4, 5, 24}).requires_grad_();
    use(x, hooked).backward();
    const Tensor joined = x.grad();
    x.mutable_grad() = Tensor();
    use(x, [](const Parts& p) { return p; }).backward();
    EXPECT_TRUE(x.grad().equal(joined));
  }
}

TEST(PartsOfGradient, OfOneNodeTakeNoMemoryOfTheirOwn) {
  const auto most = [](const std::function<std::vector<Tensor>(const Tensor&)>& parts) {
    const Tensor x = hb::randn({2, 256, 3 * 4 * 8}).requires_grad_();
    const auto of = [&](const Tensor& t) {
      const auto p = parts(t.view({2, 256, 3, 4, 8}).permute({2, 0, 3, 1, 4}));
      return attention(p[0], p[1], p[2]).sum();
    };
    return peak(of, x);
  };
  const double selected = most([](const Tensor& t) { return std::vector<Tensor>{t[0], t[1], t[2]}; });
  EXPECT_LE(most([](const Tensor& t) { return t.unbind(0); }), selected);
}

TEST(PartsOfGradient, OfOneNodeAreSeenByHooks) {
  const Tensor x = hb::randn({3, 2, 4, 5, 8}).requires_grad_();
  const auto p = x.unbind(0);
  Tensor seen;
  p[1].register_hook([&](const Tensor& g) { return seen = g * 2; });
  attention(p[0], p[1], p[2]).sum().backward();
  EXPECT_TRUE(x.grad()[1].equal(seen));
}

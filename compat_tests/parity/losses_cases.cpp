// Losses: every reduction, dtypes, weights, ignored targets.
#include <cmath>

#include "parity/case.h"

using torch::Tensor;

namespace {

const std::pair<const char*, int64_t> kReductions[] = {
    {"none", at::Reduction::None}, {"mean", at::Reduction::Mean}, {"sum", at::Reduction::Sum}};
const parity::Dtypes kTwo{torch::kFloat, torch::kDouble};

// A loss of two equally shaped tensors.
void pair_loss(parity::Case& c, const std::function<Tensor(const Tensor&, const Tensor&, int64_t)>& fn, double low = -2,
               double high = 2, double target_low = -2, double target_high = 2) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (const auto& [name, reduction] : kReductions) {
      auto x = c.leaf_in(low, high, {4, 5}, dtype), y = c.rand({4, 5}, dtype, target_low, target_high);
      c.gradients(name, {x}, [&, r = reduction] { return fn(x, y, r); });
    }
  });
  for (const auto& entry : kReductions) {
    auto x = c.leaf_in(low, high, {2, 3}, torch::kDouble), y = c.rand({2, 3}, torch::kDouble, target_low, target_high);
    c.gradcheck([&] { return fn(x, y, entry.second); }, {x});
    c.gradgradcheck([&] { return fn(x, y, entry.second); }, {x});
  }
  auto x = c.leaf_in(low, high, {3, 4}).transpose(0, 1);
  c.out("transposed", fn(x, c.rand({4, 3}, torch::kFloat, target_low, target_high), at::Reduction::Mean));
}

}  // namespace

PARITY_CASE(losses, mse) {
  pair_loss(c, [](const Tensor& x, const Tensor& y, int64_t r) { return torch::mse_loss(x, y, r); });
  auto x = c.leaf({3, 2}), y = c.leaf({3, 2});
  c.gradients("both", {x, y}, [&] { return torch::mse_loss(x, y); });
  c.throws("shapes", [&] { torch::mse_loss(c.randn({3}), c.randn({4})); });
}

PARITY_CASE(losses, l1) {
  pair_loss(c, [](const Tensor& x, const Tensor& y, int64_t r) { return torch::l1_loss(x, y, r); });
}

PARITY_CASE(losses, smooth_l1) {
  pair_loss(c, [](const Tensor& x, const Tensor& y, int64_t r) { return torch::smooth_l1_loss(x, y, r, 0.7); });
}

PARITY_CASE(losses, huber) {
  pair_loss(c, [](const Tensor& x, const Tensor& y, int64_t r) { return torch::huber_loss(x, y, r, 0.7); });
}

PARITY_CASE(losses, binary_cross_entropy) {
  pair_loss(
      c, [](const Tensor& x, const Tensor& y, int64_t r) { return torch::binary_cross_entropy(x, y, {}, r); }, 0.1, 0.9,
      0.05, 0.95);
  auto x = c.leaf_in(0.1, 0.9, {4});
  c.gradients("weighted", {x},
              [&] { return torch::binary_cross_entropy(x, c.bools({4}).to(torch::kFloat), c.rand({4})); });
  c.out("edges", torch::binary_cross_entropy(c.values({0, 1, 0, 1}), c.values({0, 1, 1, 0}), {}, at::Reduction::None));
  c.throws("range", [&] { torch::binary_cross_entropy(c.values({1.5}), c.values({1})); });
}

PARITY_CASE(losses, binary_cross_entropy_with_logits) {
  pair_loss(
      c,
      [](const Tensor& x, const Tensor& y, int64_t r) {
        return torch::binary_cross_entropy_with_logits(x, y, {}, {}, r);
      },
      -3, 3, 0.05, 0.95);
  auto x = c.leaf({4, 3});
  auto y = c.bools({4, 3}).to(torch::kFloat);
  c.gradients("weights", {x}, [&] {
    return torch::binary_cross_entropy_with_logits(x, y, c.rand({3}), c.rand({3}, torch::kFloat, 0.5, 2));
  });
  c.out("extreme", torch::binary_cross_entropy_with_logits(c.values({100, -100, 1e4}), c.values({0, 1, 1}), {}, {},
                                                           at::Reduction::None));
}

PARITY_CASE(losses, kl_div) {
  pair_loss(
      c, [](const Tensor& x, const Tensor& y, int64_t r) { return torch::kl_div(x, y, r); }, -3, -0.1, 0.1, 0.9);
  auto x = c.leaf({3, 4}), y = c.randn({3, 4});
  c.gradients("log_target", {x}, [&] { return torch::kl_div(x, y, at::Reduction::Sum, true); });
}

PARITY_CASE(losses, nll) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({6, 5}, dtype), weight = c.rand({5}, dtype);
    auto y = c.randint(0, 5, {6});
    for (const auto& [name, reduction] : kReductions) {
      const std::string label = name;
      c.gradients(label, {x}, [&, r = reduction] { return torch::nll_loss(x, y, {}, r); });
      c.gradients(label + "_weighted", {x}, [&, r = reduction] { return torch::nll_loss(x, y, weight, r); });
      c.gradients(label + "_ignored", {x},
                  [&, r = reduction] { return torch::nll_loss(x, y, weight, r, y[0].item<int64_t>()); });
    }
  });
  auto image = c.leaf({2, 4, 3, 3});
  auto target = c.randint(0, 4, {2, 3, 3});
  c.gradients("2d", {image}, [&] { return torch::nll_loss2d(image, target); });
  auto row = c.leaf({5});
  c.gradients("no_batch", {row}, [&] { return torch::nll_loss(row, torch::tensor(2)); });
  c.throws("out_of_range", [&] { torch::nll_loss(c.randn({2, 3}), torch::tensor({0, 3})); });
  c.throws("target_dtype", [&] { torch::nll_loss(c.randn({2, 3}), c.randn({2})); });
  c.throws("batches", [&] { torch::nll_loss(c.randn({2, 3}), torch::tensor({0, 1, 2})); });
}

PARITY_CASE(losses, cross_entropy) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({6, 5}, dtype), weight = c.rand({5}, dtype, 0.5, 1);
    auto y = c.randint(0, 5, {6});
    for (const auto& [name, reduction] : kReductions) {
      const std::string label = name;
      c.gradients(label, {x}, [&, r = reduction] { return torch::cross_entropy_loss(x, y, {}, r); });
      c.gradients(label + "_weighted", {x}, [&, r = reduction] { return torch::cross_entropy_loss(x, y, weight, r); });
      c.gradients(label + "_smoothed", {x},
                  [&, r = reduction] { return torch::cross_entropy_loss(x, y, {}, r, -100, 0.1); });
    }
    auto soft = c.rand({6, 5}, dtype).softmax(1);
    c.gradients("probabilities", {x}, [&] { return torch::cross_entropy_loss(x, soft); });
    c.gradients("ignored", {x},
                [&] { return torch::cross_entropy_loss(x, y, {}, at::Reduction::Mean, y[1].item<int64_t>()); });
  });
  auto x = c.leaf({3, 4}, torch::kDouble);
  auto y = torch::tensor({0, 3, 1});
  c.gradcheck([&] { return torch::cross_entropy_loss(x, y); }, {x});
  c.gradgradcheck([&] { return torch::cross_entropy_loss(x, y); }, {x});
  c.out("all_ignored", torch::cross_entropy_loss(c.randn({2, 3}), torch::tensor({-100, -100})));
  c.throws("out_of_range", [&] { torch::cross_entropy_loss(c.randn({2, 3}), torch::tensor({0, 7})); });
}

PARITY_CASE(losses, margins) {
  for (const auto& [name, reduction] : kReductions) {
    const std::string label = name;
    const int64_t r = reduction;
    auto x = c.leaf({4, 3}), y = c.leaf({4, 3}), z = c.leaf({4, 3});
    auto sign = (c.randint(0, 2, {4}) * 2 - 1).to(torch::kFloat);
    c.gradients(label + "_soft_margin", {x}, [&] {
      return torch::soft_margin_loss(x, sign.unsqueeze(1).expand({4, 3}), r);
    });
    c.gradients(label + "_hinge", {x}, [&] {
      return torch::hinge_embedding_loss(x, sign.unsqueeze(1).expand({4, 3}), 1.0, r);
    });
    c.gradients(label + "_cosine", {x, y}, [&] { return torch::cosine_embedding_loss(x, y, sign, 0.2, r); });
    c.gradients(label + "_ranking", {x, y},
                [&] { return torch::margin_ranking_loss(x, y, sign.unsqueeze(1), 0.3, r); });
    c.gradients(label + "_triplet", {x, y, z},
                [&] { return torch::triplet_margin_loss(x, y, z, 1.0, 2, 1e-6, false, r); });
    c.gradients(label + "_poisson", {x},
                [&] { return torch::poisson_nll_loss(x, y.detach().abs(), true, false, 1e-8, r); });
    auto labels = c.randint(0, 3, {4});
    c.gradients(label + "_multi_margin", {x}, [&] { return torch::multi_margin_loss(x, labels, 1, 1, {}, r); });
  }
}

PARITY_CASE(losses, multilabel) {
  auto x = c.leaf({2, 4});
  auto y = torch::tensor({{3, 0, -1, 1}, {1, -1, 0, 2}});
  c.gradients("margin", {x}, [&] { return torch::multilabel_margin_loss(x, y); });
}

PARITY_CASE(losses, ctc) {
  auto scores = c.leaf({10, 2, 5});
  auto targets = c.randint(1, 5, {2, 4});
  auto input_lengths = torch::tensor({10, 8}), target_lengths = torch::tensor({4, 3});
  c.gradients("y", {scores}, [&] {
    return torch::ctc_loss(scores.log_softmax(2), targets, input_lengths, target_lengths, 0, at::Reduction::Mean,
                           false);
  });
}

PARITY_CASE(losses, ctc_shapes) {
  using Lengths = std::vector<int64_t>;
  const auto loss = [](const Tensor& x, const Tensor& targets, const Lengths& in, const Lengths& out, int64_t blank = 0,
                       bool zero_infinity = false, int64_t reduction = at::Reduction::None) {
    return torch::ctc_loss(x, targets, torch::tensor(in), torch::tensor(out), blank, reduction, zero_infinity);
  };
  for (auto dtype : {torch::kFloat, torch::kDouble}) {
    auto x = c.leaf({12, 3, 6}, dtype);
    auto targets = torch::tensor({{1, 2, 2, 5}, {3, 3, 3, 1}, {4, 1, 2, 0}});
    c.scope(parity::dtype_name(dtype), [&] {
      c.gradients("each", {x}, [&] { return loss(x.log_softmax(2), targets, {12, 9, 7}, {4, 4, 3}); });
      c.gradients("by_logarithms", {x}, [&] { return loss(x, targets, {12, 9, 7}, {4, 4, 3}); });
      c.gradients("sum", {x}, [&] {
        return loss(x.log_softmax(2), targets, {12, 12, 12}, {4, 4, 3}, 0, false, at::Reduction::Sum);
      });
      c.gradients("one_after_the_other", {x}, [&] {
        return loss(x.log_softmax(2), torch::tensor({1, 2, 2, 5, 3, 3, 4}), {12, 9, 7}, {4, 2, 1});
      });
      c.gradients("no_labels", {x}, [&] { return loss(x.log_softmax(2), targets, {12, 9, 1}, {4, 0, 0}); });
      c.gradients("other_blank", {x}, [&] {
        return loss(x.log_softmax(2), torch::tensor({{0, 1}, {1, 1}, {0, 4}}), {12, 9, 7}, {2, 2, 2}, 5);
      });
      c.gradients("one_step", {x}, [&] {
        return loss(x.log_softmax(2).slice(0, 0, 1), targets, {1, 1, 1}, {1, 1, 0});
      });
      c.gradients("just_long_enough", {x}, [&] { return loss(x.log_softmax(2), targets, {5, 6, 3}, {4, 4, 3}); });
      c.gradients("impossible", {x}, [&] { return loss(x.log_softmax(2), targets, {12, 5, 2}, {4, 4, 3}); });
      c.gradients("impossible_as_zero", {x}, [&] {
        return loss(x.log_softmax(2), targets, {12, 5, 2}, {4, 4, 3}, 0, true);
      });
      c.gradients("no_steps", {x}, [&] { return loss(x.log_softmax(2), targets, {12, 0, 0}, {4, 0, 1}, 0, true); });
      c.gradients("unbatched", {x}, [&] {
        return torch::ctc_loss(x.select(1, 0).log_softmax(1), targets[0], torch::tensor(12), torch::tensor(4));
      });
      c.gradients("turned", {x}, [&] {
        return loss(x.transpose(0, 1).log_softmax(2), torch::ones({12, 1}, torch::kLong), Lengths(12, 3),
                    Lengths(12, 1));
      });
    });
  }
  auto long_x = c.leaf({90, 2, 11});
  auto many = c.randint(1, 11, {2, 35});
  c.tolerance(torch::kFloat, 1e-4, 1e-4);  // either library is 5e-5 from what double gives
  c.gradients("long", {long_x}, [&] { return loss(long_x.log_softmax(2), many, {90, 83}, {35, 30}); });
}

PARITY_CASE(losses, distances) {
  auto x = c.leaf({4, 3}), y = c.leaf({4, 3});
  c.gradients("cosine", {x, y}, [&] { return torch::cosine_similarity(x, y, 1, 1e-8); });
  c.gradients("pairwise", {x, y}, [&] { return torch::pairwise_distance(x, y); });
  c.gradients("cdist", {x, y}, [&] { return torch::cdist(x, y); });
  c.gradients("pdist", {x}, [&] { return torch::pdist(x); });
  // More columns than a vector has lanes, rows that are equal, and rows that lie apart in memory.
  const Tensor rows = c.randn({7, 75}, torch::kDouble);
  rows[3].copy_(rows[1]);
  const Tensor apart = rows.t().contiguous().t(), narrow = c.randn({2, 3});
  for (const double p : {0., 1., 2., 3., static_cast<double>(INFINITY)})
    for (const auto dtype : {torch::kDouble, torch::kFloat}) {
      const Tensor z = apart.to(dtype).requires_grad_();
      c.scope(std::string(parity::dtype_name(dtype)) + " " + std::to_string(p), [&] {
        c.gradients("pdist", {z}, [&] { return torch::pdist(z, p); });
        c.out("pdist of two", torch::pdist(narrow, p));
        c.out("pdist of one", torch::pdist(narrow.slice(0, 0, 1), p));
      });
    }
}
// Without gradients and smoothing: LibTorch refuses both where it takes the forward pass.
PARITY_CASE(losses, one_class_in_a_list) {
  const auto x = c.randn({3}), target = torch::tensor({1}), weight = c.rand({3}, torch::kFloat, 0.5, 2);
  for (const auto reduction : {at::Reduction::None, at::Reduction::Mean, at::Reduction::Sum}) {
    c.scope(std::to_string(reduction), [&] {
      c.layout("shape", torch::nll_loss(x.log_softmax(0), target, weight, reduction));
      c.out("nll", torch::nll_loss(x.log_softmax(0), target, weight, reduction));
      c.out("cross_entropy", torch::cross_entropy_loss(x, target, weight, reduction));
    });
  }
}

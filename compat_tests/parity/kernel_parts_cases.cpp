// Parts of CTC losses, embedding bags and fractional poolings under the names of LibTorch's kernels.
#include <algorithm>

#include "parity/bad.h"
#include "parity/case.h"

namespace {

struct Sequences {
  torch::Tensor log_probs, targets, input_lengths, target_lengths;
};
Sequences sequences(parity::Case& c, torch::Dtype dtype = torch::kFloat) {
  return {torch::log_softmax(c.randn({6, 2, 4}, dtype), 2), torch::tensor({{1, 2, 2}, {3, 1, 0}}),
          torch::tensor({6, 5}), torch::tensor({3, 2})};
}

struct Bags {
  torch::Tensor weight, indices, offsets, grad;
};
Bags bags(parity::Case& c) {
  return {c.randn({6, 3}), torch::tensor({0, 1, 1, 4, 2, 1}), torch::tensor({0, 2, 2, 5}), c.randn({4, 3})};
}

}  // namespace

PARITY_CASE(kernel_parts, ctc_loss) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const auto s = sequences(c, dtype);
    const auto [loss, alpha] = at::_ctc_loss(s.log_probs, s.targets, s.input_lengths, s.target_lengths);
    c.out("loss", loss);
    c.shape_only("alpha", alpha);  // Halfbridge leaves out beginnings from which no end is reached
    c.out("gradient", at::_ctc_loss_backward(c.randn({2}, dtype), s.log_probs, s.targets, s.input_lengths,
                                             s.target_lengths, loss, alpha, 0));
    c.out("lengths", std::get<0>(at::_ctc_loss(s.log_probs, s.targets, std::vector<int64_t>{6, 5}, {3, 2}, 1)));
    c.out("gradient with lengths", at::_ctc_loss_backward(c.randn({2}, dtype), s.log_probs, s.targets,
                                                          std::vector<int64_t>{6, 5}, {3, 2}, loss, alpha, 0, true));
  });
}

PARITY_CASE(kernel_parts, ctc_loss_of_impossible_sequences) {
  const auto s = sequences(c);
  const auto labels = torch::tensor({{1, 1, 1}, {3, 1, 0}}), lengths = torch::tensor({3, 5});
  const auto [loss, alpha] = at::_ctc_loss(s.log_probs, labels, lengths, s.target_lengths, 0, true);
  c.out("loss", loss);
  c.out("zeros",
        at::_ctc_loss_backward(torch::ones({2}), s.log_probs, labels, lengths, s.target_lengths, loss, alpha, 0, true));
}

PARITY_CASE(kernel_parts, gradients_of_ctc_loss) {
  const auto s = sequences(c);
  auto leaf = s.log_probs.detach().requires_grad_();
  const auto loss = [&] { return std::get<0>(at::_ctc_loss(leaf, s.targets, s.input_lengths, s.target_lengths)); };
  c.gradients("loss", {leaf}, loss);
  const auto [values, alpha] = at::_ctc_loss(leaf, s.targets, s.input_lengths, s.target_lengths);
  const auto gradient =
      at::_ctc_loss_backward(torch::ones({2}), leaf, s.targets, s.input_lengths, s.target_lengths, values, alpha, 0);
  c.value("has a history", gradient.requires_grad());
  SAYS("derivative for aten::_ctc_loss_backward is not implemented", gradient.sum().backward());
}

PARITY_CASE(kernel_parts, wrong_ctc_losses) {
  const auto s = sequences(c);
  BAD(at::_ctc_loss(s.log_probs.to(torch::kHalf), s.targets, s.input_lengths, s.target_lengths));
  BAD(at::_ctc_loss(s.log_probs, s.targets, torch::tensor({7, 5}), s.target_lengths));
  BAD(at::_ctc_loss(s.log_probs, s.targets, torch::tensor({6}), s.target_lengths));
  BAD(at::_ctc_loss(s.log_probs, s.targets, s.input_lengths, s.target_lengths, 4));
}

PARITY_CASE(kernel_parts, embedding_bags) {
  const auto b = bags(c);
  const auto maximum = at::_embedding_bag(b.weight, b.indices, b.offsets, false, 2);
  c.out("maximum", std::get<0>(maximum)), c.out("rows", std::get<3>(maximum));
  const auto padded = at::_embedding_bag(b.weight, b.indices, b.offsets, false, 2, false, {}, false, 1);
  c.out("without padding", std::get<0>(padded));
  auto leaf = c.leaf({6, 3});
  const auto only = at::_embedding_bag_forward_only(leaf.detach(), b.indices, b.offsets, false, 1);
  c.out("forward", std::get<0>(only)), c.out("bag of each", std::get<1>(only)), c.out("sizes", std::get<2>(only));
}

PARITY_CASE(kernel_parts, gradients_of_embedding_bags) {
  const auto b = bags(c);
  const std::optional<torch::Tensor> none, factors = c.randn({6});
  for (int64_t mode = 0; mode < 3; ++mode) {
    for (int64_t padding : {-1, 1}) {
      // For sums LibTorch gives no bags where no gradient is wanted.
      const auto r = at::_embedding_bag(b.weight, b.indices, b.offsets, false, std::max<int64_t>(mode, 1), false, {},
                                        false, padding);
      const auto [bag, sizes, rows] = std::tuple(std::get<1>(r), std::get<2>(r), std::get<3>(r));
      c.scope("mode " + std::to_string(mode) + " padding " + std::to_string(padding), [&] {
        c.out("dense",
              at::_embedding_bag_dense_backward(b.grad, b.indices, bag, sizes, rows, 6, false, mode, none, padding));
        c.out("backward", at::_embedding_bag_backward(b.grad, b.indices, b.offsets, bag, sizes, rows, 6, false, mode,
                                                      false, none, padding));
        if (mode == 2) return;
        const auto sparse =
            at::_embedding_bag_sparse_backward(b.grad, b.indices, b.offsets, bag, sizes, 6, false, mode, none, padding);
        c.value("is sparse", sparse.is_sparse()), c.out("sparse", sparse.to_dense());
        if (mode == 1) return;
        c.out("factors",
              at::_embedding_bag_dense_backward(b.grad, b.indices, bag, sizes, rows, 6, false, mode, factors, padding));
        c.out("of the factors", at::_embedding_bag_per_sample_weights_backward(b.grad, b.weight, b.indices, b.offsets,
                                                                               bag, mode, padding));
        c.out("without bags",
              at::_embedding_bag_per_sample_weights_backward(b.grad, b.weight, b.indices, b.offsets,
                                                             torch::empty({0}, torch::kLong), mode, padding));
      });
    }
  }
  // LibTorch's division by the frequency takes that of another row, so that all have the same here.
  const auto even = torch::tensor({0, 1, 1, 4, 0, 4}), bag = torch::tensor({0, 0, 2, 2, 2, 3}),
             sizes = torch::tensor({2, 0, 3, 1});
  for (int64_t mode = 0; mode < 2; ++mode)
    c.out("by frequency " + std::to_string(mode),
          at::_embedding_bag_dense_backward(b.grad, even, bag, sizes, sizes, 6, true, mode, none));
  const auto rows = at::embedding_sparse_backward(c.randn({3, 2}), torch::tensor({1, 0, 1}), 4, -1, false);
  c.out("embedding", rows.to_dense());
  BAD(at::_embedding_bag_per_sample_weights_backward(b.grad, b.weight, b.indices, b.offsets,
                                                     torch::empty({0}, torch::kLong), 1));
}

PARITY_CASE(kernel_parts, fractional_pooling) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const auto plane = c.randn({2, 3, 7, 8}, dtype), samples = c.rand({2, 3, 2}, dtype);
    const auto flat = at::fractional_max_pool2d(plane, {2, 3}, {3, 4}, samples);
    const auto grad = c.randn({2, 3, 3, 4}, dtype);
    c.out("2d", at::fractional_max_pool2d_backward(grad, plane, {2, 3}, {3, 4}, std::get<1>(flat)));
    auto out = torch::empty({0}, torch::TensorOptions(dtype)), places = torch::empty({0}, torch::kLong);
    at::fractional_max_pool2d_outf(plane, torch::IntArrayRef({2, 3}), torch::IntArrayRef({3, 4}), samples, out, places);
    c.out("out", out), c.out("out.places", places);
    const auto volume = c.randn({3, 5, 6, 7}, dtype);
    const auto solid = at::fractional_max_pool3d(volume, {2, 2, 2}, {2, 3, 3}, c.rand({1, 3, 3}, dtype));
    c.out("3d", at::fractional_max_pool3d_backward(c.randn({3, 2, 3, 3}, dtype), volume, {2, 2, 2}, {2, 3, 3},
                                                   std::get<1>(solid)));
  });
  auto grad = c.leaf({1, 1, 2, 2});
  const auto plane = c.randn({1, 1, 5, 5});
  const auto places = std::get<1>(at::fractional_max_pool2d(plane, {2, 2}, {2, 2}, c.rand({1, 1, 2})));
  c.gradients("again", {grad}, [&] { return at::fractional_max_pool2d_backward(grad, plane, {2, 2}, {2, 2}, places); });
  BAD(at::fractional_max_pool2d_backward(c.randn({1, 1, 3, 2}), plane, {2, 2}, {2, 2}, places));
}

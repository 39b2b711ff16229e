// torch::nn::functional::detail: the options of functional's functions one by one.
#include "parity/case.h"

using torch::Tensor;
namespace D = torch::nn::functional::detail;
namespace F = torch::nn::functional;

PARITY_CASE(functional_detail, activations) {
  const Tensor x = c.randn({2, 6});
  c.out("elu", D::elu(x, 0.7, false));
  c.out("selu", D::selu(x, false));
  c.out("hardshrink", D::hardshrink(x, 0.3));
  c.out("hardtanh", D::hardtanh(x, -0.5, 0.4, false));
  c.out("leaky_relu", D::leaky_relu(x, 0.2, false));
  c.out("softmax", D::softmax(x, 1, torch::kDouble));
  c.out("softmin", D::softmin(x, 0, std::nullopt));
  c.out("log_softmax", D::log_softmax(x, 1, std::nullopt));
  c.out("glu", D::glu(x, 1));
  c.out("gelu", D::gelu(x, "tanh"));
  c.out("relu", D::relu(x.clone(), true));
  c.out("relu6", D::relu6(x * 5, false));
  c.out("celu", D::celu(x, 1.3, false));
  c.out("softplus", D::softplus(x, 2.0, 1.0));
  c.out("softshrink", D::softshrink(x, 0.2));
  c.out("threshold", D::threshold(x, 0.1, 7.0, false));
  c.out("rrelu", D::rrelu(x, 0.1, 0.3, false, false));
  torch::manual_seed(2);
  c.out("dropout", D::dropout(x, 0.5, true, false));
  c.out("dropout2d", D::dropout2d(x.reshape({1, 2, 2, 3}), 0.5, true, false));
  c.out("alpha_dropout", D::alpha_dropout(x, 0.5, true, false));
  c.out("gumbel_softmax", D::gumbel_softmax(x, 0.5, false, 1));
}

PARITY_CASE(functional_detail, layers) {
  const Tensor x = c.randn({2, 4, 6, 6}), w = c.randn({4, 2, 3, 3}), b = c.randn({4});
  c.out("conv2d", D::conv2d(x, w, b, 1, torch::ExpandingArray<2>(1), 1, 2));
  c.out("conv1d", D::conv1d(x.flatten(2), c.randn({3, 4, 3}), {}, 2, torch::kValid, 1, 1));
  c.out("conv_transpose2d", D::conv_transpose2d(x, c.randn({4, 3, 3, 3}), {}, {2, 2}, {1, 1}, {1, 1}, 1, {1, 1}));
  c.out("batch_norm", D::batch_norm(x, torch::zeros({4}), torch::ones({4}), b, b, true, 0.1, 1e-5));
  c.out("instance_norm", D::instance_norm(x, {}, {}, b, b, true, 0.1, 1e-5));
  c.out("layer_norm", D::layer_norm(x, {6, 6}, {}, {}, 1e-5));
  c.out("group_norm", D::group_norm(x, 2, b, b, 1e-5));
  c.out("local_response_norm", D::local_response_norm(x, 2, 1e-4, 0.75, 1.0));
  c.out("normalize", D::normalize(x, 2, 1, 1e-12, std::nullopt));
  c.out("avg_pool2d", D::avg_pool2d(x, 2, 2, 0, false, true, std::nullopt));
  c.out("max_pool2d", D::max_pool2d(x, 2, 2, 0, 1, false));
  const auto pooled = D::max_pool2d_with_indices(x, 2, 2, 0, 1, false);
  c.out("indices", std::get<1>(pooled));
  c.out("max_unpool2d", D::max_unpool2d(std::get<0>(pooled), std::get<1>(pooled), 2, 2, 0, std::nullopt));
  c.out("adaptive_avg_pool2d", D::adaptive_avg_pool2d(x, torch::ExpandingArrayWithOptionalElem<2>({3, std::nullopt})));
  c.out("adaptive_max_pool1d", D::adaptive_max_pool1d(x.flatten(2), 3));
  c.out("lp_pool2d", D::lp_pool2d(x.abs(), 2.0, 2, 2, false));
  c.out("pad", D::pad(x, {1, 2, 0, 1}, torch::kReplicate, 0));
  c.out("pixel_shuffle", D::pixel_shuffle(x, 2));
  c.out("fold", D::fold(D::unfold(x, 2, 1, 0, 2), 6, 2, 1, 0, 2));
  c.out("interpolate",
        D::interpolate(x, std::vector<int64_t>{9, 9}, std::nullopt, torch::kBilinear, false, std::nullopt, false));
  c.out("grid_sample",
        D::grid_sample(x, c.rand({2, 3, 3, 2}, torch::kFloat, -1, 1), torch::kBilinear, torch::kZeros, false));
  const Tensor ids = torch::tensor({{0, 2}, {1, 3}});
  c.out("embedding", D::embedding(ids, x.flatten(1)[0].reshape({4, 36}), std::nullopt, std::nullopt, 2, false, false));
  c.out("embedding_bag", D::embedding_bag(ids, x.flatten(1)[0].reshape({4, 36}), {}, std::nullopt, 2, false,
                                          torch::kSum, false, {}, false, std::nullopt));
}

PARITY_CASE(functional_detail, losses) {
  const Tensor x = c.randn({4, 5}), y = c.randn({4, 5}), p = c.rand({4, 5}), t = c.rand({4, 5});
  const Tensor labels = torch::tensor({0, 4, 2, 1}), sign = torch::tensor({1.f, -1.f, 1.f, -1.f});
  c.out("l1", D::l1_loss(x, y, torch::kSum));
  c.out("mse", D::mse_loss(x, y, torch::kMean));
  c.out("kl_div", D::kl_div(x, t, torch::kBatchMean));
  c.out("bce", D::binary_cross_entropy(p, t, {}, torch::kMean));
  c.out("bce logits", D::binary_cross_entropy_with_logits(x, t, {}, torch::kMean, p));
  c.out("smooth_l1", D::smooth_l1_loss(x, y, torch::kMean, 0.5));
  c.out("huber", D::huber_loss(x, y, torch::kMean, 0.7));
  c.out("nll", D::nll_loss(x, labels, p[0], -100, torch::kMean));
  c.out("cross_entropy", D::cross_entropy(x, labels, {}, 2, torch::kNone, 0.1));
  c.out("hinge", D::hinge_embedding_loss(x[0], sign.repeat({2}).slice(0, 0, 5), 1.0, torch::kMean));
  c.out("multi_margin", D::multi_margin_loss(x, labels, 1, 1.0, {}, torch::kMean));
  c.out("cosine", D::cosine_embedding_loss(x, y, sign, 0.2, torch::kMean));
  c.out("soft_margin", D::soft_margin_loss(x, y.sign(), torch::kMean));
  c.out("triplet", D::triplet_margin_loss(x, y, p, 1.0, 2.0, 1e-6, true, torch::kMean));
  c.out("poisson", D::poisson_nll_loss(x, p, true, false, 1e-8, torch::kMean));
  c.out("ranking", D::margin_ranking_loss(x[0], y[0], sign.repeat({2}).slice(0, 0, 5), 0.1, torch::kMean));
  c.out("similarity", D::cosine_similarity(x, y, 1, 1e-8));
  c.out("distance", D::pairwise_distance(x, y, 2, 1e-6, true));
}

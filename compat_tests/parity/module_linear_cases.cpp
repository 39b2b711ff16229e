#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_linear, linear) {
  parity::module(c, "plain", nn::Linear(5, 3), c.leaf({4, 5}));
  parity::module(c, "no_bias", nn::Linear(nn::LinearOptions(5, 3).bias(false)), c.leaf({2, 4, 5}));
  parity::module(c, "one_row", nn::Linear(5, 3), c.leaf({5}));
  parity::module(c, "empty_batch", nn::Linear(5, 3), c.leaf({0, 5}));
  c.throws("wrong_width", [&] { nn::Linear(5, 3)->forward(c.randn({2, 4})); });
}

PARITY_CASE(module_linear, linear_dtypes) {
  c.for_dtypes({torch::kDouble, torch::kHalf, torch::kBFloat16}, [&](torch::Dtype dtype) {
    nn::Linear fc(6, 4);
    fc->to(dtype);
    auto x = c.leaf({3, 6}, dtype);
    auto y = fc(x);
    c.out("y", y);
    c.backward("y", y, {x, fc->weight, fc->bias});
  });
}

PARITY_CASE(module_linear, bilinear) {
  parity::module(c, "plain", nn::Bilinear(3, 4, 2), c.leaf({5, 3}), c.leaf({5, 4}));
  parity::module(c, "no_bias", nn::Bilinear(nn::BilinearOptions(3, 4, 2).bias(false)), c.leaf({5, 3}), c.leaf({5, 4}));
}

PARITY_CASE(module_linear, shape_only_modules) {
  parity::module(c, "identity", nn::Identity(), c.leaf({2, 3}));
  parity::module(c, "flatten", nn::Flatten(), c.leaf({2, 3, 4}));
  parity::module(c, "flatten_some", nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1)), c.leaf({2, 3, 4}));
  parity::module(c, "unflatten", nn::Unflatten(nn::UnflattenOptions(1, std::vector<int64_t>{2, 3})), c.leaf({2, 6}));
}

PARITY_CASE(module_linear, embedding) {
  auto indices = c.randint(0, 7, {2, 5});
  parity::module(c, "plain", nn::Embedding(7, 3), indices);
  parity::module(c, "padding", nn::Embedding(nn::EmbeddingOptions(7, 3).padding_idx(2)), indices);
  parity::module(c, "padding_from_end", nn::Embedding(nn::EmbeddingOptions(7, 3).padding_idx(-1)), indices);
  parity::module(c, "max_norm", nn::Embedding(nn::EmbeddingOptions(7, 3).max_norm(1.0)), indices);
  parity::module(c, "by_frequency", nn::Embedding(nn::EmbeddingOptions(7, 3).scale_grad_by_freq(true)), indices);
  parity::module(c, "given", nn::Embedding::from_pretrained(c.randn({7, 3})), indices);
  parity::module(c, "given_free",
                 nn::Embedding::from_pretrained(c.randn({7, 3}), nn::EmbeddingFromPretrainedOptions().freeze(false)),
                 indices);
  c.throws("index_too_large", [&] { nn::Embedding(3, 2)->forward(torch::tensor({3})); });
  c.throws("bad_padding", [&] { nn::Embedding(nn::EmbeddingOptions(7, 3).padding_idx(7)); });
  c.out("functional", F::embedding(indices, c.randn({7, 2})));
  c.out("one_hot", F::one_hot(indices, 8));
}

PARITY_CASE(module_linear, embedding_bag) {
  auto bags = c.randint(0, 7, {3, 4});
  auto list = c.randint(0, 7, {6});
  auto offsets = torch::tensor({0, 2, 2}, torch::kLong);
  parity::module(c, "mean", nn::EmbeddingBag(7, 3), bags);
  parity::module(c, "sum", nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).mode(torch::kSum)), bags);
  parity::module(c, "max", nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).mode(torch::kMax)), bags);
  parity::module(c, "padding", nn::EmbeddingBag(nn::EmbeddingBagOptions(7, 3).padding_idx(1)), bags);
  c.scope("offsets", [&] {
    nn::EmbeddingBag bag(7, 3);
    auto y = bag(list, offsets);
    c.out("y", y);
    c.backward("y", y, {bag->weight});
  });
  c.scope("weighted", [&] {
    nn::EmbeddingBag bag(nn::EmbeddingBagOptions(7, 3).mode(torch::kSum));
    auto w = c.leaf({6});
    auto y = bag(list, offsets, w);
    c.out("y", y);
    c.backward("y", y, {bag->weight, w});
  });
}

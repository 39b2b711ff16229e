// Embedding, attention, padding, resampling, rearranging of pixels.
#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(nn_misc, embedding) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto w = c.leaf({6, 4}, dtype);
    auto index = c.randint(0, 6, {3, 5});
    c.gradients("y", {w}, [&] { return torch::embedding(w, index); });
    c.gradients("padding", {w}, [&] { return torch::embedding(w, index, 2); });
  });
  auto w = c.leaf({6, 4});
  c.gradients("by_frequency", {w}, [&] { return torch::embedding(w, torch::tensor({1, 1, 2}), -1, true); });
  c.out("int32", torch::embedding(w, c.randint(0, 6, {4}, torch::kInt)));
  c.out("one_hot", torch::one_hot(c.randint(0, 5, {2, 3}), 5));
  c.out("one_hot_guessed", torch::one_hot(torch::tensor({0, 2, 1})));
  c.throws("out_of_range", [&] { torch::embedding(w, torch::tensor({6})); });
  c.throws("index_dtype", [&] { torch::embedding(w, c.randn({2})); });
}

PARITY_CASE(nn_misc, attention) {
  c.tolerance(torch::kFloat, 1e-5, 5e-6);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto q = c.leaf({2, 3, 5, 8}, dtype), k = c.leaf({2, 3, 7, 8}, dtype), v = c.leaf({2, 3, 7, 8}, dtype);
    c.gradients("plain", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v); });
    auto mask = c.randn({5, 7}, dtype);
    c.gradients("added_mask", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v, mask); });
    auto s = c.leaf({2, 3, 5, 8}, dtype);
    c.gradients("causal", {q, s}, [&] { return torch::scaled_dot_product_attention(q, s, s, {}, 0.0, true); });
  });
  auto q = c.leaf({2, 4, 6}), k = c.leaf({2, 4, 6}), v = c.leaf({2, 4, 5});
  c.gradients("rank3", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v); });
  auto allowed = torch::ones({4, 4}, torch::kBool).tril();
  c.gradients("bool_mask", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v, allowed); });
  c.gradients("scale", {q, k, v}, [&] { return torch::scaled_dot_product_attention(q, k, v, {}, 0.0, false, 0.3); });
  auto longer = c.leaf({1, 2, 130, 16});
  c.gradients("long", {longer},
              [&] { return torch::scaled_dot_product_attention(longer, longer, longer, {}, 0.0, true); });
  auto packed = c.leaf({2, 5, 3, 2, 4});  // as a transformer cuts it
  c.gradients("from_packed", {packed}, [&] {
    auto parts = packed.unbind(2);
    return torch::scaled_dot_product_attention(parts[0].transpose(1, 2), parts[1].transpose(1, 2),
                                               parts[2].transpose(1, 2));
  });
  auto d = c.leaf({1, 3, 2}, torch::kDouble);
  c.gradcheck([&] { return torch::scaled_dot_product_attention(d, d, d, {}, 0.0, true); }, {d});
  c.throws("sizes", [&] { torch::scaled_dot_product_attention(q, c.randn({2, 4, 7}), v); });
}

PARITY_CASE(nn_misc, pixels) {
  auto x = c.leaf({2, 8, 3, 4});
  c.gradients("shuffle", {x}, [&] { return torch::pixel_shuffle(x, 2); });
  c.gradients("unshuffle", {x}, [&] { return torch::pixel_unshuffle(c.leaf({2, 2, 4, 6}), 2) * x.sum(); });
  c.gradients("channel_shuffle", {x}, [&] { return torch::channel_shuffle(x, 4); });
}

PARITY_CASE(nn_misc, cells) {
  auto x = c.leaf({3, 4}), h = c.leaf({3, 5}), s = c.leaf({3, 5});
  auto b = c.leaf({20}), b2 = c.leaf({20}), w = c.leaf({20, 4}), u = c.leaf({20, 5});
  c.gradients("lstm", {x, h, s, w, u, b, b2}, [&] {
    const auto next = torch::lstm_cell(x, {h, s}, w, u, b, b2);
    return std::get<0>(next) * 2 + std::get<1>(next);
  });
  auto gw = c.leaf({15, 4}), gu = c.leaf({15, 5}), gb = c.leaf({15});
  c.gradients("gru", {x, h, gw, gu, gb}, [&] { return torch::gru_cell(x, h, gw, gu, gb, gb); });
  auto rw = c.leaf({5, 4}), ru = c.leaf({5, 5});
  c.gradients("rnn_tanh", {x, h, rw, ru}, [&] { return torch::rnn_tanh_cell(x, h, rw, ru); });
}

// torch::lstm, gru, rnn_tanh, rnn_relu as functions of their weights; sequences of different lengths.
#include "parity/case.h"

using torch::Tensor;

namespace {

struct Shape {
  int64_t layers = 1;
  bool bidirectional = false, biases = true;
  int64_t projection = 0;
};
constexpr int64_t kSteps = 4, kBatch = 3, kIn = 5, kHidden = 6;

std::vector<Tensor> weights(parity::Case& c, int64_t gates, const Shape& s) {
  const int64_t directions = s.bidirectional ? 2 : 1, out = s.projection ? s.projection : kHidden;
  std::vector<Tensor> all;
  for (int64_t layer = 0; layer < s.layers; ++layer)
    for (int64_t d = 0; d < directions; ++d) {
      all.push_back(c.leaf_in(-0.4, 0.4, {gates * kHidden, layer ? out * directions : kIn}));
      all.push_back(c.leaf_in(-0.4, 0.4, {gates * kHidden, out}));
      if (s.biases)
        for (int k = 0; k < 2; ++k) all.push_back(c.leaf_in(-0.4, 0.4, {gates * kHidden}));
      if (s.projection) all.push_back(c.leaf_in(-0.4, 0.4, {s.projection, kHidden}));
    }
  return all;
}
Tensor state(parity::Case& c, const Shape& s, int64_t width) {
  return c.leaf({s.layers * (s.bidirectional ? 2 : 1), kBatch, width});
}

const std::vector<std::pair<std::string, Shape>> kShapes{
    {"plain", {}}, {"stack", {2}}, {"both", {1, true}}, {"both_stack", {2, true}}, {"no_bias", {2, false, false}}};

template <class Padded, class Packed>
void one_state(parity::Case& c, int64_t gates, Padded padded, Packed packed) {
  for (const auto& [name, s] : kShapes)
    c.scope(name, [&, s = s] {
      auto w = weights(c, gates, s);
      auto x = c.leaf({kSteps, kBatch, kIn}), h = state(c, s, kHidden);
      auto inputs = w;
      inputs.insert(inputs.end(), {x, h});
      const int64_t n = s.layers;
      c.gradients("y", inputs,
                  [&] { return std::get<0>(padded(x, h, w, s.biases, n, 0.0, true, s.bidirectional, false)); });
      c.gradients("h", inputs,
                  [&] { return std::get<1>(padded(x, h, w, s.biases, n, 0.0, true, s.bidirectional, false)); });
      c.out("batch_first",
            std::get<0>(padded(x.transpose(0, 1), h, w, s.biases, n, 0.0, false, s.bidirectional, true)));
      auto data = c.leaf({7, kIn});
      const auto sizes = c.values({3, 2, 1, 1}, torch::kLong);
      inputs[w.size()] = data;
      c.gradients("packed", inputs,
                  [&] { return std::get<0>(packed(data, sizes, h, w, s.biases, n, 0.0, true, s.bidirectional)); });
      c.out("packed_h", std::get<1>(packed(data, sizes, h, w, s.biases, n, 0.0, false, s.bidirectional)));
    });
}

}  // namespace

// The two overloads of a name, as functions of either.
#define ONE_STATE(name, gates)                                                                          \
  PARITY_CASE(recurrent_functions, name) {                                                              \
    const auto call = [](const auto&... args) { return torch::name(args...); };                         \
    one_state(c, gates, call, call);                                                                    \
    const Shape s;                                                                                      \
    const auto w = weights(c, gates, s);                                                                \
    const auto x = c.randn({kSteps, kBatch, kIn}), h = c.randn({1, kBatch, kHidden});                   \
    c.throws("weights", [&] { torch::name(x, h, {w[0], w[1]}, true, 1, 0.0, false, false, false); });   \
    c.throws("width", [&] { torch::name(x.slice(2, 0, 3), h, w, true, 1, 0.0, false, false, false); }); \
    c.throws("steps", [&] { torch::name(x.slice(0, 0, 0), h, w, true, 1, 0.0, false, false, false); }); \
  }
ONE_STATE(gru, 3)
ONE_STATE(rnn_tanh, 1)
ONE_STATE(rnn_relu, 1)

PARITY_CASE(recurrent_functions, lstm) {
  auto shapes = kShapes;
  shapes.push_back({"projected", {2, true, true, 4}});
  for (const auto& [name, s] : shapes)
    c.scope(name, [&, s = s] {
      auto w = weights(c, 4, s);
      auto x = c.leaf({kSteps, kBatch, kIn}), h = state(c, s, s.projection ? s.projection : kHidden),
           k = state(c, s, kHidden);
      auto inputs = w;
      inputs.insert(inputs.end(), {x, h, k});
      const int64_t n = s.layers;
      const auto run = [&] { return torch::lstm(x, {h, k}, w, s.biases, n, 0.0, true, s.bidirectional, false); };
      c.gradients("y", inputs, [&] { return std::get<0>(run()); });
      c.gradients("h", inputs, [&] { return std::get<1>(run()); });
      c.gradients("c", inputs, [&] { return std::get<2>(run()); });
      c.out("batch_first",
            std::get<0>(torch::lstm(x.transpose(0, 1), {h, k}, w, s.biases, n, 0.0, false, s.bidirectional, true)));
      auto data = c.leaf({7, kIn});
      const auto sizes = c.values({3, 2, 1, 1}, torch::kLong);
      inputs[w.size()] = data;
      const auto packed = [&] { return torch::lstm(data, sizes, {h, k}, w, s.biases, n, 0.0, true, s.bidirectional); };
      c.gradients("packed", inputs, [&] { return std::get<0>(packed()); });
      c.out("packed_h", std::get<1>(packed()));
      c.out("packed_c", std::get<2>(packed()));
    });
  const auto w = weights(c, 4, {});
  const auto x = c.randn({kSteps, kBatch, kIn}), h = c.randn({1, kBatch, kHidden});
  c.throws("one_state", [&] { torch::lstm(x, {h}, w, true, 1, 0.0, false, false, false); });
  c.throws("weights", [&] { torch::lstm(x, {h, h}, {w[0]}, true, 1, 0.0, false, false, false); });
}

PARITY_CASE(recurrent_functions, dropout_between_layers) {
  const Shape s{2};
  const auto w = weights(c, 3, s);
  const auto x = c.randn({kSteps, kBatch, kIn}), h = c.randn({2, kBatch, kHidden});
  c.out("train", std::get<0>(torch::gru(x, h, w, true, 2, 0.5, true, false, false)));
  c.out("eval", std::get<0>(torch::gru(x, h, w, true, 2, 0.5, false, false, false)));
}

PARITY_CASE(recurrent_functions, pad_sequence) {
  auto a = c.leaf({4, 2}), b = c.leaf({2, 2}), d = c.leaf({3, 2});
  c.gradients("y", {a, b, d}, [&] { return at::pad_sequence({a, b, d}); });
  c.out("batch_first", torch::pad_sequence({a, b, d}, true, -1.5));
  c.out("left", torch::pad_sequence({a, b, d}, true, 0.5, "left"));
  c.throws("none", [&] { torch::pad_sequence({}); });
  c.throws("side", [&] { torch::pad_sequence({a, b}, false, 0.0, "middle"); });
}

// Modules with parameters of their own (recurrent layers, attention, transformers) and optimizers.
#include "calls.h"

using random_calls::Inputs;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

namespace {

/// The module's parameters take part in the gradients that are shown, and its numbers have the call's dtype.
template <class Module>
void prepare(Inputs& in, Module& module) {
  module->to(in.dtype);
  for (const Tensor& parameter : module->parameters()) in.watch(parameter);
}

/// (sequence, batch, features) of a recurrent layer, perhaps with the batch first or without one.
Shape sequence(Inputs& in, int64_t features, bool batch_first, int64_t batch) {
  const int64_t length = in.size(1, 4);
  if (batch == 0) return {length, features};
  return batch_first ? Shape{batch, length, features} : Shape{length, batch, features};
}

/// What an LSTM, a GRU or an RNN gives; `further` draws the options that it alone has.
template <class Layer, class Options, class Further>
Tensors recurrent(Inputs& in, Further further) {
  in.full_precision();
  const int64_t features = in.size(1, 3), batch = in.one_of(4) ? 0 : in.size(1, 3);
  const bool batch_first = in.coin();
  Options options(features, in.size(2, 4));
  options.num_layers(in.between(1, 3)).bidirectional(in.coin()).batch_first(batch_first).bias(in.coin());
  further(options);
  Layer layer(options);
  prepare(in, layer);
  const auto [y, state] = layer->forward(in.tensor(sequence(in, features, batch_first, batch)));
  Tensors all = random_calls::results(state);
  all.insert(all.begin(), y);
  return all;
}
Tensors lstm(Inputs& in) {
  return recurrent<torch::nn::LSTM, torch::nn::LSTMOptions>(in, [&](auto& options) {
    if (in.one_of(3)) options.proj_size(1);
  });
}
Tensors gru(Inputs& in) {
  return recurrent<torch::nn::GRU, torch::nn::GRUOptions>(in, [](auto&) {});
}
Tensors rnn(Inputs& in) {
  return recurrent<torch::nn::RNN, torch::nn::RNNOptions>(in, [&](auto& options) {
    if (in.coin()) options.nonlinearity(torch::kReLU);
  });
}

/// A GRU over sequences of several lengths.
Tensors packed(Inputs& in) {
  namespace rnn = torch::nn::utils::rnn;
  in.full_precision();
  const int64_t batch = in.size(1, 4), length = in.size(1, 4);
  const bool batch_first = in.coin();
  torch::nn::GRU layer(torch::nn::GRUOptions(2, 3).batch_first(batch_first).bidirectional(in.coin()));
  prepare(in, layer);
  const Tensor x = in.tensor(batch_first ? Shape{batch, length, 2} : Shape{length, batch, 2});
  const Tensor lengths = in.integers({batch}, 1, length);
  const auto [y, state] = layer->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths, batch_first, false));
  const auto [filled, sizes] = rnn::pad_packed_sequence(y, batch_first, 0.5);
  return {filled, sizes, state};
}

Tensors attention(Inputs& in) {
  const int64_t heads = in.between(1, 2), width = heads * in.size(1, 3), batch = in.between(1, 2),
                queries = in.size(1, 3), keys = in.size(1, 3);
  in.full_precision();
  auto options = torch::nn::MultiheadAttentionOptions(width, heads).bias(in.coin()).add_bias_kv(in.coin());
  options.add_zero_attn(in.coin());
  const int64_t key_width = in.coin() ? width : in.between(1, 4);
  if (key_width != width) options.kdim(key_width).vdim(key_width);
  torch::nn::MultiheadAttention layer(options);
  prepare(in, layer);
  const Tensor q = in.tensor({queries, batch, width}), k = in.tensor({keys, batch, key_width});
  const Tensor v = in.coin() ? k : in.tensor({keys, batch, key_width});
  Tensor padding, mask;
  if (in.coin()) {
    padding = in.mask({batch, keys});
    padding.select(1, 0).fill_(false);
  }
  if (in.coin())
    mask = in.coin() ? in.tensor({queries, keys}).detach() : in.tensor({batch * heads, queries, keys}).detach();
  return random_calls::results(layer->forward(q, k, v, padding, in.coin(), mask, in.coin()));
}

Tensor scaled_dot_product(Inputs& in) {
  const int64_t groups = in.between(1, 2), heads = groups * in.between(1, 2), batch = in.between(1, 2),
                queries = in.size(1, 4), keys = in.size(1, 4), width = in.size(1, 5);
  const bool shared = in.one_of(4);
  const Tensor q = in.tensor({batch, heads, queries, width}),
               k = in.tensor({batch, shared ? groups : heads, keys, width}),
               v = in.tensor({batch, shared ? groups : heads, keys, in.coin() ? width : 2});
  const int64_t masked = in.between(0, 3);
  std::optional<Tensor> mask;
  if (masked == 1) mask = in.tensor({queries, keys});
  if (masked == 2) {
    mask = in.mask({batch, 1, queries, keys});
    mask->select(-1, 0).fill_(true);
  }
  const std::optional<double> scale = in.coin() ? std::optional<double>(0.5) : std::nullopt;
  return torch::scaled_dot_product_attention(q, k, v, mask, 0.0, masked == 3, scale, shared);
}

Tensor encoder(Inputs& in) {
  in.full_precision();
  auto options = torch::nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(3).dropout(0);
  if (in.coin()) options.activation(torch::kGELU);
  torch::nn::TransformerEncoder stack(torch::nn::TransformerEncoderLayer(options), in.between(1, 2));
  prepare(in, stack);
  const int64_t length = in.size(1, 3), batch = in.size(1, 2);
  const Tensor x = in.tensor({length, batch, 4});
  return stack->forward(
      x, in.coin() ? torch::nn::TransformerImpl::generate_square_subsequent_mask(length).to(in.dtype) : Tensor());
}

Tensor decoder(Inputs& in) {
  in.full_precision();
  torch::nn::TransformerDecoderLayer layer(
      torch::nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(3).dropout(0));
  prepare(in, layer);
  const int64_t batch = in.between(1, 2);
  const Tensor x = in.tensor({in.between(1, 3), batch, 4}), memory = in.tensor({in.between(1, 3), batch, 4});
  return layer->forward(x, memory);
}

/// Parameters after some steps along a quadratic's gradient, the last of them in two groups.
template <class Optimizer, class Options>
Tensors stepped(Inputs& in, const Options& options) {
  in.dtype = torch::kDouble;
  const Tensor a = in.tensor({3}).detach().clone().requires_grad_(true),
               b = in.tensor({2, 2}).detach().clone().requires_grad_(true);
  Options second = options;
  second.lr(0.3);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a});
  groups.emplace_back(std::vector<Tensor>{b}, std::make_unique<Options>(second));
  Optimizer optimizer(groups, options);
  for (int64_t step = in.between(1, 4); step > 0; --step) {
    optimizer.zero_grad(in.coin());
    Tensor loss = (a * a * 0.7 + a).sum();
    if (in.coin()) loss = loss + (b.sin() * 2).sum();  // otherwise b has no gradient in this step
    loss.backward();
    optimizer.step();
  }
  return {a.detach(), b.detach()};
}

template <class Options>
Options with_decay(Inputs& in, Options options) {
  if (in.coin()) options.weight_decay(0.2);
  return options;
}

Tensors sgd(Inputs& in) {
  torch::optim::SGDOptions options(0.1);
  if (in.coin()) options.momentum(0.9).dampening(0.25 * static_cast<double>(in.between(0, 1)));
  if (in.one_of(3)) options.momentum(0.8).dampening(0).nesterov(true);
  return stepped<torch::optim::SGD>(in, with_decay(in, options));
}

Tensors rmsprop(Inputs& in) {
  torch::optim::RMSpropOptions options(0.05);
  if (in.coin()) options.momentum(0.5);
  options.centered(in.coin()).alpha(0.9);
  return stepped<torch::optim::RMSprop>(in, with_decay(in, options));
}

Tensors adagrad(Inputs& in) {
  torch::optim::AdagradOptions options(0.1);
  if (in.coin()) options.lr_decay(0.1);
  if (in.coin()) options.initial_accumulator_value(0.3);
  return stepped<torch::optim::Adagrad>(in, with_decay(in, options));
}

Tensors lbfgs(Inputs& in) {
  in.dtype = torch::kDouble;
  const Tensor a = in.tensor({4}).detach().clone().requires_grad_(true);
  torch::optim::LBFGSOptions options(0.5);
  options.max_iter(in.between(1, 5)).history_size(in.between(1, 3));
  if (in.coin()) options.line_search_fn("strong_wolfe");
  torch::optim::LBFGS optimizer({a}, options);
  for (int64_t step = in.between(1, 3); step > 0; --step)
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = (a * a * torch::arange(1, 5, torch::kDouble) + a.cos()).sum();
      loss.backward();
      return loss;
    });
  return {a.detach()};
}

}  // namespace

DRAWN(lstm(in))
DRAWN(gru(in))
DRAWN(rnn(in))
DRAWN(packed(in))
DRAWN(attention(in))
DRAWN(scaled_dot_product(in))
DRAWN(encoder(in))
DRAWN(decoder(in))
DRAWN(sgd(in))
DRAWN(stepped<torch::optim::Adam>(in, with_decay(in, torch::optim::AdamOptions(0.1).amsgrad(in.coin()).eps(1e-3))))
DRAWN(stepped<torch::optim::AdamW>(in, with_decay(in, torch::optim::AdamWOptions(0.1).amsgrad(in.coin()).eps(1e-3))))
DRAWN(rmsprop(in))
DRAWN(adagrad(in))
DRAWN(lbfgs(in))

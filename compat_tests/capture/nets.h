// Small nets that the tests of captures trace.
#pragma once

#include <torch/torch.h>

namespace nets {

namespace nn = torch::nn;

// Called in an order that is not the order of registration; `act` is used twice, `fc`'s weight is shared.
struct BranchImpl : nn::Module {
  BranchImpl() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("act", act);
    register_module("pool", pool);
    register_module("drop", drop);
    register_module("fc", fc);
    gain = register_parameter("gain", torch::full({1}, 1.5));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto y = act(norm(conv(x)));  // in place
    y = act(y + y.flip(3)) * gain;
    y = pool(y).flatten(1);
    return torch::log_softmax(fc(drop(y)), 1);
  }
  nn::Conv2d conv{nn::Conv2dOptions(2, 3, 3).padding(1)};
  nn::BatchNorm2d norm{3};
  nn::ReLU act{nn::ReLUOptions(true)};
  nn::MaxPool2d pool{nn::MaxPool2dOptions(2)};
  nn::Dropout drop{0.5};
  nn::Linear fc{12, 4};
  torch::Tensor gain;
};
TORCH_MODULE(Branch);

// Linear on three dimensions, an LSTM without a state, an embedding, a function that is no module, a shared weight.
struct WordsImpl : nn::Module {
  WordsImpl() {
    register_module("words", words);
    register_module("lstm", lstm);
    register_module("steps", steps);
    register_module("head", head);
    head->weight = register_parameter("tied", words->weight);
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    auto y = std::get<0>(lstm(words(ids)));
    return head(steps->forward(y));
  }
  nn::Embedding words{11, 6};
  nn::LSTM lstm{nn::LSTMOptions(6, 6).batch_first(true)};
  nn::Sequential steps{nn::Linear(6, 6),
                       nn::Functional(torch::tanh),
                       nn::Identity(),
                       nn::Dropout(0.25),
                       nn::LayerNorm(nn::LayerNormOptions({6}).elementwise_affine(false)),
                       nn::LeakyReLU()};
  nn::Linear head{nn::LinearOptions(6, 11).bias(false)};
};
TORCH_MODULE(Words);

inline nn::Sequential plain() { return nn::Sequential(nn::Flatten(), nn::Linear(4, 3), nn::ReLU(), nn::Linear(3, 2)); }

}  // namespace nets

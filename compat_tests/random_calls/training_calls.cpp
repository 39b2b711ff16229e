// Networks of random layers that are trained for some steps, saved, loaded and cloned.
#include <ATen/autocast_mode.h>

#include <sstream>

#include "calls.h"

using random_calls::Inputs;
using random_calls::joined;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;
namespace nn = torch::nn;

namespace {

/// A network while it is built: the sizes of what its last layer gives.
struct Network {
  nn::Sequential layers;
  int64_t channels;
};

void add_convolution(Inputs& in, Network& network) {
  const int64_t groups = network.channels % 2 == 0 && in.coin() ? 2 : 1, outputs = 2 * in.between(1, 3);
  if (in.one_of(4)) {
    network.layers->push_back(
        nn::ConvTranspose2d(nn::ConvTranspose2dOptions(network.channels, outputs, in.between(1, 3))
                                .stride(in.between(1, 2))
                                .groups(groups)
                                .bias(in.coin())));
  } else {
    nn::Conv2dOptions options(network.channels, outputs, in.between(1, 3));
    options.stride(in.between(1, 2)).padding(in.between(0, 1)).groups(groups).bias(in.coin());
    const int64_t mode = in.between(0, 5);
    if (mode == 0) options.padding_mode(torch::kReflect);
    if (mode == 1) options.padding_mode(torch::kReplicate);
    if (mode == 2) options.padding_mode(torch::kCircular);
    if (mode == 3) options.stride(1).padding(torch::kSame);
    network.layers->push_back(nn::Conv2d(options));
  }
  network.channels = outputs;
}

void add_norm(Inputs& in, Network& network) {
  const int64_t kind = in.between(0, 3);
  if (kind == 0) {
    network.layers->push_back(nn::GroupNorm(nn::GroupNormOptions(1, network.channels).affine(in.coin())));
  } else if (kind == 1) {
    network.layers->push_back(nn::InstanceNorm2d(
        nn::InstanceNorm2dOptions(network.channels).affine(in.coin()).track_running_stats(in.coin())));
  } else {
    nn::BatchNorm2dOptions options(network.channels);
    options.affine(!in.one_of(4)).track_running_stats(!in.one_of(4)).eps(1e-3);
    if (in.one_of(3)) options.momentum(std::nullopt);
    network.layers->push_back(nn::BatchNorm2d(options));
  }
}

void add_activation(Inputs& in, Network& network) {
  auto& layers = network.layers;
  switch (in.between(0, 12)) {
    case 0:
      layers->push_back(nn::ReLU(nn::ReLUOptions(in.coin())));
      break;
    case 1:
      layers->push_back(nn::GELU());
      break;
    case 2:
      layers->push_back(nn::SiLU());
      break;
    case 3:
      layers->push_back(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(in.coin())));
      break;
    case 4:
      layers->push_back(nn::ELU(nn::ELUOptions().alpha(0.7).inplace(in.coin())));
      break;
    case 5:
      layers->push_back(nn::PReLU(nn::PReLUOptions().num_parameters(in.coin() ? 1 : network.channels)));
      break;
    case 6:
      layers->push_back(nn::Tanh());
      break;
    case 7:
      layers->push_back(nn::Softplus());
      break;
    case 8:
      layers->push_back(nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.7).inplace(in.coin())));
      break;
    case 9:
      layers->push_back(nn::Mish());
      break;
    case 10:
      layers->push_back(nn::Softmax(nn::SoftmaxOptions(1)));
      break;
    case 11:
      layers->push_back(nn::CELU(nn::CELUOptions().inplace(in.coin())));
      break;
    default:
      layers->push_back(nn::SELU(nn::SELUOptions(in.coin())));
      break;
  }
}

void add_other(Inputs& in, Network& network) {
  auto& layers = network.layers;
  switch (in.between(0, 7)) {
    case 0:
      layers->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2).ceil_mode(in.coin())));
      break;
    case 1:
      layers->push_back(nn::AvgPool2d(nn::AvgPool2dOptions(2).count_include_pad(in.coin())));
      break;
    case 2:
      layers->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({in.between(1, 4), std::nullopt})));
      break;
    case 3:
      layers->push_back(
          nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest)));
      break;
    case 4:
      layers->push_back(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 0, 2, 1})));
      break;
    case 5:
      layers->push_back(nn::Dropout2d(nn::Dropout2dOptions(0.3).inplace(in.coin())));
      break;
    case 6:
      layers->push_back(nn::LocalResponseNorm(nn::LocalResponseNormOptions(2)));
      break;
    default:
      layers->push_back(nn::Dropout(0.2));
      break;
  }
}

/// Layers of images and one linear layer behind them, for ten classes.
Network network_of(Inputs& in, const Tensor& x) {
  Network network{nn::Sequential(), x.size(1)};
  for (int64_t n = in.between(1, 5); n > 0; --n) {
    const int64_t kind = in.between(0, 5);
    if (kind < 2) add_convolution(in, network);
    if (kind == 2) add_norm(in, network);
    if (kind == 3 || kind == 4) add_activation(in, network);
    if (kind == 5) add_other(in, network);
  }
  network.layers->push_back(nn::Flatten());
  network.layers->to(in.dtype);
  network.layers->eval();
  torch::NoGradGuard no_grad;
  const int64_t features = network.layers->forward(x).size(1);
  network.layers->push_back(nn::Linear(nn::LinearOptions(features, 10).bias(in.coin())));
  network.layers->to(in.dtype);
  return network;
}

using Optimizer = std::unique_ptr<torch::optim::Optimizer>;

/// What makes the optimizer of some parameters, with options that have been drawn.
std::function<Optimizer(const std::vector<Tensor>&)> optimizer_of(Inputs& in) {
  namespace optim = torch::optim;
  const double decay = in.coin() ? 0.1 : 0;
  const int64_t kind = in.between(0, 4);
  return [=](const std::vector<Tensor>& parameters) -> Optimizer {
    const auto made = [&](auto* optimizer) { return Optimizer(optimizer); };
    switch (kind) {
      case 0:
        return made(new optim::Adam(parameters, optim::AdamOptions(0.01).eps(1e-3).weight_decay(decay)));
      case 1:
        return made(new optim::AdamW(parameters, optim::AdamWOptions(0.01).eps(1e-3).weight_decay(decay)));
      case 2:
        return made(new optim::RMSprop(parameters, optim::RMSpropOptions(0.01).eps(1e-3).weight_decay(decay)));
      case 3:
        return made(new optim::Adagrad(parameters, optim::AdagradOptions(0.01).eps(1e-3).weight_decay(decay)));
      default:
        return made(new optim::SGD(parameters, optim::SGDOptions(0.05).momentum(0.9).weight_decay(decay)));
    }
  };
}

Tensor loss_of(Inputs& in, const Tensor& y, const Tensor& classes) {
  namespace F = torch::nn::functional;
  switch (in.between(0, 2)) {
    case 0:
      return F::cross_entropy(y, classes, F::CrossEntropyFuncOptions().label_smoothing(0.1));
    case 1:
      return F::nll_loss(F::log_softmax(y, 1), classes);
    default:
      return F::mse_loss(y.sigmoid(), torch::one_hot(classes, 10).to(y.scalar_type()));
  }
}

/// What `from` knows goes through an archive into `to`.
template <class T>
void pass_on(const T& from, T& to) {
  std::stringstream bytes;
  torch::save(from, bytes);
  torch::load(to, bytes);
}

/// A copy of other numbers that has been given the model's by a file.
nn::Sequential loaded(nn::Sequential& model) {
  nn::Sequential copy(std::dynamic_pointer_cast<nn::SequentialImpl>(model->clone()));
  const torch::NoGradGuard no_grad;
  for (Tensor& parameter : copy->parameters()) parameter.zero_();
  pass_on(model, copy);
  return copy;
}

/// Losses, norms and what the network is at the end. Model and optimizer may pass through files on the way.
Tensors trained(Inputs& in) {
  in.repeats = false;
  if (in.dtype == torch::kHalf) in.full_precision();
  const int64_t batch = in.between(2, 4);
  const Tensor x = in.tensor({batch, 2 * in.between(1, 2), in.between(5, 9), in.between(5, 9)}).detach();
  const Tensor classes = in.integers({batch}, 0, 9);
  nn::Sequential model = network_of(in, x).layers;
  const auto made = optimizer_of(in);
  Optimizer optimizer = made(model->parameters());
  Tensors shown;
  model->train();
  for (int64_t step = in.between(1, 3); step > 0; --step) {
    optimizer->zero_grad();
    const Tensor loss = loss_of(in, model->forward(in.coin() ? x : x.clone()), classes);
    loss.backward();
    if (in.coin()) shown.push_back(torch::tensor(nn::utils::clip_grad_norm_(model->parameters(), 0.5)));
    optimizer->step();
    at::autocast::clear_cache();  // LibTorch's convolutions go on with the weights of before
    shown.push_back(loss.detach());
    if (in.one_of(3)) {
      Optimizer other = made(model->parameters());
      pass_on(*optimizer, *other);
      optimizer = std::move(other);
    }
  }
  if (in.coin()) model = loaded(model);
  model->eval();
  shown.push_back(model->forward(x));
  for (const auto& parameter : model->named_parameters()) shown.push_back(parameter.value().detach());
  for (const auto& buffer : model->named_buffers()) shown.push_back(buffer.value().detach());
  return shown;
}

}  // namespace

DRAWN(trained(in))

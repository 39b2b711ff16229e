// Numbers drawn from a seeded generator, initial weights, samplers, schedulers and what tensors print.
#include "calls.h"

#include <sstream>

using random_calls::Inputs;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

ONE(x.clone().uniform_(-1, 2))
ONE(x.clone().normal_(0.5, 2))
ONE(x.clone().bernoulli_(0.3))
ONE(x.clone().exponential_(1.5))
ONE(x.clone().cauchy_())
ONE(x.clone().geometric_(0.3))
ONE(x.clone().log_normal_())
ONE(x.clone().random_())
ONE(x.clone().random_(7))
ONE(x.clone().random_(-3, 9))
ONE(torch::rand_like(x))
ONE(torch::randn_like(x))
ONE(torch::randint_like(x, 10))
ONE(torch::bernoulli(x.sigmoid()))
ONE(torch::bernoulli(x, 0.4))
ONE(torch::poisson(x.abs()))
ONE(torch::binomial(x.abs().floor(), torch::full_like(x, 0.4)))
ONE(torch::_standard_gamma(x.abs() + 0.1))
ONE(at::normal(x, 1.5))
ONE(torch::dropout(x, 0.4, true))
ONE(torch::feature_dropout(x, 0.4, true))
ONE(torch::alpha_dropout(x, 0.4, true))
ONE(torch::native_dropout(x, 0.4, true))
ONE(torch::rrelu(x, 0.1, 0.3, true))
ONE(torch::multinomial(x.abs(), p.count, p.flag))
ONE(torch::randperm(x.numel()))
ONE(torch::nn::functional::gumbel_softmax(x, torch::nn::functional::GumbelSoftmaxFuncOptions().hard(p.flag).dim(-1)))
ONE(torch::nn::init::xavier_uniform_(x.detach().clone(), 1.5))
ONE(torch::nn::init::xavier_normal_(x.detach().clone()))
ONE(torch::nn::init::kaiming_uniform_(x.detach().clone(), 0.2, torch::kFanOut, torch::kLeakyReLU))
ONE(torch::nn::init::kaiming_normal_(x.detach().clone(), 0, torch::kFanIn, torch::kReLU))
ONE(torch::nn::init::orthogonal_(x.detach().clone()))
ONE(torch::nn::init::sparse_(x.detach().clone(), 0.3))
ONE(torch::nn::init::eye_(x.detach().clone()))
ONE(torch::nn::init::dirac_(x.detach().clone()))
ONE(torch::nn::init::normal_(x.detach().clone(), 1, 0.1))
TWO(at::normal(x, y.abs()))

namespace {

torch::TensorOptions any_options(Inputs& in) {
  return in.of<torch::ScalarType>(
      {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong, torch::kInt});
}
/// Short and long ones: the generators have two ways from 16 elements on.
Shape any_length(Inputs& in) { return {in.between(0, 3), in.between(1, 12)}; }

Tensor drawn(Inputs& in) {
  const Shape shape = any_length(in);
  const auto options = any_options(in);
  switch (in.between(0, 5)) {
    case 0:
      return torch::rand(shape, options);
    case 1:
      return torch::randn(shape, options);
    case 2:
      return torch::randint(in.between(-5, 5), in.between(6, 1000), shape, options);
    case 3:
      return torch::randperm(in.between(0, 30), options);
    case 4:
      return torch::normal(0.5, 2, shape, std::nullopt, options);
    default:
      return torch::cat({torch::rand({in.between(1, 20)}), torch::randn({3})});  // one after the other
  }
}

Tensor order(Inputs& in) {
  const int64_t size = in.between(3, 20), batch = in.between(1, 5), kind = in.between(0, 3);
  std::vector<int64_t> all;
  const auto take = [&](auto sampler) {
    for (int64_t epoch = 0; epoch < 2; ++epoch, sampler.reset(size))
      while (const auto places = sampler.next(batch))
        for (const auto place : *places) all.push_back(static_cast<int64_t>(place));
  };
  if (kind == 0) take(torch::data::samplers::RandomSampler(size));
  if (kind == 1) take(torch::data::samplers::SequentialSampler(size));
  if (kind == 2) take(torch::data::samplers::DistributedRandomSampler(size, 3, in.between(0, 2), in.coin()));
  if (kind == 3) take(torch::data::samplers::DistributedSequentialSampler(size, 3, in.between(0, 2), in.coin()));
  return torch::tensor(all);
}

/// The learning rates of some epochs.
Tensor scheduled(Inputs& in) {
  const Tensor weight = torch::zeros({1}).requires_grad_();
  torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0.5));
  std::vector<double> rates;
  const auto rate = [&] { rates.push_back(optimizer.param_groups()[0].options().get_lr()); };
  weight.mutable_grad() = torch::zeros({1});
  if (in.coin()) {
    torch::optim::StepLR scheduler(optimizer, in.between(1, 3), 0.3);
    for (int64_t epoch = 0; epoch < 7; ++epoch) optimizer.step(), scheduler.step(), rate();
  } else {
    torch::optim::ReduceLROnPlateauScheduler scheduler(
        optimizer,
        in.coin() ? torch::optim::ReduceLROnPlateauScheduler::min : torch::optim::ReduceLROnPlateauScheduler::max, 0.4,
        static_cast<int>(in.between(0, 2)), 0.1,
        in.coin() ? torch::optim::ReduceLROnPlateauScheduler::rel : torch::optim::ReduceLROnPlateauScheduler::abs,
        static_cast<int>(in.between(0, 2)), {0.01F}, 1e-8, false);
    for (int64_t epoch = 0; epoch < 9; ++epoch) optimizer.step(), scheduler.step(0.1F * in.between(0, 10)), rate();
  }
  return torch::tensor(rates);
}

Tensors clipped(Inputs& in) {
  std::vector<Tensor> parameters;
  for (int64_t n = in.between(1, 3); n > 0; --n) {
    parameters.push_back(torch::zeros(in.numbers(in.between(0, 2), 1, 4)).requires_grad_());
    if (!in.one_of(4))
      parameters.back().mutable_grad() = in.tensor(parameters.back().sizes().vec()).detach().to(torch::kFloat);
  }
  double norm = 0;
  if (in.coin())
    norm = torch::nn::utils::clip_grad_norm_(parameters, 0.5 * in.between(1, 6), in.of<double>({1, 2, 3, INFINITY}),
                                             in.coin());
  else
    torch::nn::utils::clip_grad_value_(parameters, 0.5 * in.between(0, 4));
  Tensors shown{torch::tensor(norm)};
  for (const Tensor& parameter : parameters) shown.push_back(parameter.grad());
  return shown;
}

/// The characters, each times its place.
Tensor printed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  const std::string text = out.str();
  std::vector<int64_t> codes(text.begin(), text.end());
  for (size_t i = 0; i < codes.size(); ++i) codes[i] *= static_cast<int64_t>(i + 1);
  return torch::tensor(codes);
}

}  // namespace

DRAWN(drawn(in))
DRAWN(order(in))
DRAWN(scheduled(in))
DRAWN(clipped(in))
ONE(printed(x))
ONE(printed(x* std::pow(10., p.any * 3)))
ONE(printed(x.masked_fill(x.to(torch::kBool).logical_not(), INFINITY)))
ONE(printed(x.repeat({30, 3})))
ONE(printed(x.to(torch::kDouble) * 1e9))

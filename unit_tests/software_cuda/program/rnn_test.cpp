// Recurrent networks, which are cuDNN's on a GPU: beside the CPU, which composes them.
#include <tuple>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

namespace rnn = torch::nn::utils::rnn;

struct Kind {
  const char* name;
  bool is_lstm;
  int64_t layers;
  bool bidirectional, batch_first, bias;
  int64_t projection = 0;
};
const std::vector<Kind> kKinds{
    {"one layer", true, 1, false, false, true},
    {"all", true, 2, true, true, true},
    {"no bias", true, 2, false, true, false},
    {"projected", true, 2, true, false, true, 3},
    {"projected alone", true, 1, false, true, false, 4},
};

// Functions round each sum to half, cuDNN does not.
double tolerance_of(torch::Dtype t) { return (torch::elementSize(t) == 2 ? 6 : 2) * step_of(t); }

template <class Options>
Options options_of(const Kind& k) {
  Options o(5, 6);
  return o.num_layers(k.layers).bidirectional(k.bidirectional).batch_first(k.batch_first).bias(k.bias);
}
nn::LSTM lstm_of(const Kind& k) { return nn::LSTM(options_of<nn::LSTMOptions>(k).proj_size(k.projection)); }

/// Output, last states and gradients of the input, the states and the parameters; `run` gives the first of these.
using Results = std::vector<Tensor>;
void add_gradients(Results& results, const std::vector<Tensor>& of, const std::vector<Tensor>& inputs) {
  Tensor total;
  for (const Tensor& t : of) {
    const Tensor weights = torch::arange(t.numel(), torch::kFloat).mul(0.7).sin().view(t.sizes()).to(t.options());
    total = total.defined() ? total + (t * weights).sum() : (t * weights).sum();
    results.push_back(t.detach());
  }
  for (const Tensor& g : torch::autograd::grad({total}, inputs)) results.push_back(g);
}
template <class Net>
std::vector<Tensor> parameters_of(const Net& net, const std::vector<Tensor>& more) {
  auto all = net->parameters();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Results run_lstm(const Kind& k, const torch::Device& device, torch::Dtype dtype, bool given) {
  torch::manual_seed(1);
  auto net = lstm_of(k);
  net->to(device, dtype);
  const int64_t rows = k.layers * (k.bidirectional ? 2 : 1), out = k.projection ? k.projection : 6;
  const auto leaf = [&](torch::IntArrayRef size, double phase) {
    return values(size, dtype, phase).to(device).requires_grad_();
  };
  const Tensor x = leaf({4, 3, 5}, 0), h = leaf({rows, k.batch_first ? 4 : 3, out}, 1);
  const Tensor c = leaf({rows, k.batch_first ? 4 : 3, 6}, 2);
  const auto [y, state] = given ? net->forward(x, std::make_tuple(h, c)) : net->forward(x);
  Results results;
  add_gradients(results, {y, std::get<0>(state), std::get<1>(state)},
                parameters_of(net, given ? std::vector<Tensor>{x, h, c} : std::vector<Tensor>{x}));
  return results;
}
void expect_alike(const std::string& name, const Results& got, const Results& expected, double step) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  for (size_t i = 0; i < got.size(); ++i)
    expect_close(name + " result " + std::to_string(i), got[i], expected[i].cpu(), step);
}

/// Runs `f`, which makes that many calls of libraries, or with `or_more` at least so many.
template <class F>
void expect_library_calls(uint64_t expected, const F& f, bool or_more = false) {
  torch::cuda::synchronize();
  control().reset_counts();
  f();
  if (!counted()) return;
  const uint64_t calls = control().counts().library_calls;
  EXPECT_TRUE(or_more ? calls >= expected : calls == expected) << calls << " calls, not " << expected;
}

TEST(SoftwareRnn, LstmBesideCpu) {
  for (const Kind& k : kKinds)
    for (const torch::Dtype t : kFloats)
      for (const bool given : {false, true})
        expect_alike(k.name, run_lstm(k, kGpu, t, given), run_lstm(k, torch::kCPU, t, given), tolerance_of(t));
}

template <class Net, class Options>
Results run_plain(const Options& options, const torch::Device& device, torch::Dtype dtype) {
  torch::manual_seed(1);
  Net net(options);
  net->to(device, dtype);
  const int64_t rows = options.num_layers() * (options.bidirectional() ? 2 : 1);
  const Tensor x = values({4, 3, 5}, dtype).to(device).requires_grad_();
  const Tensor h = values({rows, options.batch_first() ? 4 : 3, 6}, dtype, 1).to(device).requires_grad_();
  const auto [y, state] = net->forward(x, h);
  Results results;
  add_gradients(results, {y, state}, parameters_of(net, {x, h}));
  return results;
}
TEST(SoftwareRnn, GruAndPlainBesideCpu) {
  for (const Kind& k : kKinds) {
    if (k.projection) continue;
    for (const torch::Dtype t : kFloats) {
      const auto gru = options_of<nn::GRUOptions>(k);
      expect_alike("gru", run_plain<nn::GRU>(gru, kGpu, t), run_plain<nn::GRU>(gru, torch::kCPU, t), tolerance_of(t));
      const auto tanh = options_of<nn::RNNOptions>(k);
      expect_alike("tanh", run_plain<nn::RNN>(tanh, kGpu, t), run_plain<nn::RNN>(tanh, torch::kCPU, t),
                   tolerance_of(t));
    }
    auto relu = options_of<nn::RNNOptions>(k);
    relu.nonlinearity(torch::kReLU);
    expect_alike("relu", run_plain<nn::RNN>(relu, kGpu, torch::kFloat),
                 run_plain<nn::RNN>(relu, torch::kCPU, torch::kFloat), 4e-5);
  }
}

TEST(SoftwareRnn, PackedSequences) {
  const auto run = [](const Kind& k, const torch::Device& device) {
    torch::manual_seed(1);
    auto net = lstm_of(k);
    net->to(device);
    const Tensor x = values({5, 3, 5}).to(device).requires_grad_();
    const auto packed = rnn::pack_padded_sequence(x, torch::tensor({2, 5, 3}), false, /*enforce_sorted=*/false);
    const auto [y, state] = net->forward_with_packed_input(packed);
    Results results;
    add_gradients(results, {y.data(), std::get<0>(state), std::get<1>(state)}, parameters_of(net, {x}));
    return results;
  };
  for (Kind k : kKinds) {
    k.batch_first = false;
    expect_alike(k.name, run(k, kGpu), run(k, torch::kCPU), 4e-5);
  }
}

// One call for all layers, directions and steps; none where the program turned cuDNN off, with the same results.
TEST(SoftwareRnn, IsOneCallUnlessTurnedOff) {
  const Kind& all = kKinds[1];
  auto net = lstm_of(all);
  net->to(kGpu);
  const Tensor x = values({4, 3, 5}).to(kGpu);
  torch::NoGradGuard no_grad;
  Tensor by_cudnn, by_functions;
  expect_library_calls(1, [&] { by_cudnn = std::get<0>(net->forward(x)); });
  at::globalContext().setUserEnabledCuDNN(false);
  expect_library_calls(
      11, [&] { by_functions = std::get<0>(net->forward(x)); }, true);
  at::globalContext().setUserEnabledCuDNN(true);
  expect_close("values", by_cudnn, by_functions.cpu(), 1e-5);
  const std::vector<Tensor> hx{torch::zeros({4, 4, 6}, kGpu), torch::zeros({4, 4, 6}, kGpu)};
  expect_library_calls(1, [&] {
    const Tensor y = std::get<0>(torch::lstm(x, hx, net->parameters(), true, 2, 0, false, true, true));
    expect_close("function", y, by_cudnn.cpu(), 0);
  });
}

// What cuDNN does not take in one type is composed, and refused as on the CPU.
TEST(SoftwareRnn, WeightsOfAnotherTypeAreNotItsOwn) {
  nn::GRU net(5, 6);
  net->to(kGpu);
  EXPECT_THROW(net->forward(values({4, 3, 5}, torch::kDouble).to(kGpu)), c10::Error);
}

TEST(SoftwareRnn, KeptGraphAndSecondDerivatives) {
  const auto run = [](const torch::Device& device) {
    torch::manual_seed(1);
    auto net = lstm_of(kKinds[1]);
    net->to(device, torch::kDouble);
    const Tensor x = values({4, 3, 5}, torch::kDouble).to(device).requires_grad_();
    const Tensor y = std::get<0>(net->forward(x)).square().sum();
    Results results;
    for (int i = 0; i < 3; ++i)
      for (const Tensor& g : torch::autograd::grad({y}, parameters_of(net, {x}), {}, /*retain_graph=*/true))
        results.push_back(g);
    const Tensor g = torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
    for (const Tensor& second : torch::autograd::grad({g.square().sum()}, parameters_of(net, {x})))
      results.push_back(second);
    return results;
  };
  expect_alike("gradients", run(kGpu), run(torch::kCPU), 1e-9);
}

// Weights that are changed after the forward pass are not those of the gradient.
TEST(SoftwareRnn, ChangedWeightsAreSeen) {
  nn::GRU net(5, 6);
  net->to(kGpu);
  const Tensor x = values({4, 3, 5}).to(kGpu);
  const Tensor before = std::get<0>(net->forward(x));
  {
    torch::NoGradGuard no_grad;
    net->parameters()[1].mul_(2);
  }
  EXPECT_THROW(before.sum().backward(), c10::Error);
  const Tensor after = std::get<0>(net->forward(x));
  net->to(torch::kCPU);
  expect_close("values", after.detach(), std::get<0>(net->forward(x.cpu())).detach(), 1e-5);
}

// The masks are those that a dropout between two networks would draw.
TEST(SoftwareRnn, DropoutBetweenLayers) {
  nn::LSTM net(nn::LSTMOptions(5, 6).num_layers(2).dropout(0.4));
  net->to(kGpu);
  nn::LSTM first(5, 6), second(6, 6);
  first->to(kGpu), second->to(kGpu);
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < 4; ++i) {
      first->parameters()[i].copy_(net->parameters()[i]);
      second->parameters()[i].copy_(net->parameters()[4 + i]);
    }
  }
  const Tensor x = values({4, 3, 5}).to(kGpu);
  torch::manual_seed(3);
  const auto [y, state] = net->forward(x);
  torch::manual_seed(3);
  const auto [between, first_state] = first->forward(x);
  const auto [expected, second_state] = second->forward(torch::dropout(between, 0.4, true));
  EXPECT_TRUE(y.cpu().equal(expected.cpu()));
  EXPECT_TRUE(std::get<1>(state)[0].cpu().equal(std::get<1>(first_state)[0].cpu()));
  EXPECT_TRUE(std::get<0>(state)[1].cpu().equal(std::get<0>(second_state)[0].cpu()));
  net->eval();
  expect_library_calls(1, [&] { net->forward(x); });
}

TEST(SoftwareRnn, AutocastRunsItInHalf) {
  nn::GRU net(nn::GRUOptions(5, 6).num_layers(2));
  net->to(kGpu);
  const Tensor x = values({4, 3, 5}).to(kGpu).requires_grad_();
  Tensor y;
  expect_library_calls(1, [&] {
    torch::autocast guard(torch::kCUDA, torch::kHalf);
    y = std::get<0>(net->forward(x));
  });
  EXPECT_EQ(y.scalar_type(), torch::kHalf);
  y.sum().backward();
  EXPECT_EQ(net->parameters()[0].grad().scalar_type(), torch::kFloat);
  expect_close("values", y.detach().to(torch::kFloat), std::get<0>(net->forward(x)).detach().cpu(), 4e-3);
}

}  // namespace

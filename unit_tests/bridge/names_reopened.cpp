// Programs reopen LibTorch's namespaces: what they add stands beside what was there, and both are found, by qualified
// names, from inside, and under `using namespace torch`.
#include <gtest/gtest.h>

#include <unordered_map>

// First, as a header of a program would have it that only mentions the class.
#include <ATen/core/ATen_fwd.h>
namespace mentioned {
double first_value(const at::Tensor& t);
}

#include <ATen/cuda/CUDAContext.h>
#include <torch/torch.h>

// In each namespace: a name of the program's own, and a use of what was there, both unqualified.
namespace c10 {
struct Own1 {};
inline bool reopened(const Device& d) { return d.is_cpu(); }
namespace impl {
struct Own2 {};
}  // namespace impl
namespace detail {
struct Own3 {};
}  // namespace detail
namespace util {
struct Own4 {};
}  // namespace util
namespace WarningUtils {
inline bool own_always() { return get_warnAlways(); }
}  // namespace WarningUtils
namespace cuda {
inline auto own_count() { return device_count(); }
}  // namespace cuda
}  // namespace c10
namespace at {
inline Tensor own_twice(const Tensor& x) { return add(x, x); }
namespace native {
inline Tensor own_relu(const Tensor& x) { return relu(x); }
}  // namespace native
namespace indexing {
inline Slice own_slice() { return Slice(1, 2); }
}  // namespace indexing
namespace autocast {
inline bool own_enabled() { return is_autocast_enabled(kCPU); }
}  // namespace autocast
namespace Reduction {
inline int64_t own_mean() { return Mean; }
}  // namespace Reduction
namespace internal {
inline int64_t own_grain() { return GRAIN_SIZE; }
}  // namespace internal
namespace detail {
struct Own5 {};
}  // namespace detail
namespace cuda {
inline bool own_cuda() { return is_available(); }
}  // namespace cuda
namespace tracer {
struct Own6 {};
}  // namespace tracer
}  // namespace at
namespace torch {
inline Tensor own_square(const Tensor& x) { return x * x; }
namespace autograd {
struct OwnCube : public Function<OwnCube> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->save_for_backward({x});
    return x * x * x;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& g) {
    return {g[0] * 3 * ctx->get_saved_variables()[0].pow(2)};
  }
};
namespace profiler {
inline RecordProfile* own_profile() { return nullptr; }
}  // namespace profiler
namespace utils {
using OwnHook = LambdaPostHook;
}  // namespace utils
namespace impl {
inline Edge own_edge(const Variable& v) { return gradient_edge(v); }
}  // namespace impl
}  // namespace autograd
namespace nn {
struct OwnNetImpl : Module {
  OwnNetImpl() : fc(register_module("fc", Linear(LinearOptions(2, 1)))) {}
  Tensor forward(const Tensor& x) { return functional::relu(fc(x)); }
  Linear fc{nullptr};
};
TORCH_MODULE(OwnNet);
namespace functional {
inline Tensor own_gelu(const Tensor& x) { return gelu(x, GELUFuncOptions()); }
namespace detail {
inline Tensor own_detail(const Tensor& x) { return softmax(x, 0, c10::nullopt); }
}  // namespace detail
}  // namespace functional
namespace init {
inline Tensor own_ones(Tensor t) { return ones_(t); }
}  // namespace init
namespace utils {
inline double own_clip(std::vector<Tensor> p) { return clip_grad_norm_(p, 1.0); }
namespace rnn {
inline PackedSequence own_pack(const Tensor& x) { return pack_padded_sequence(x, torch::tensor({2}), true); }
}  // namespace rnn
}  // namespace utils
namespace modules::utils {
struct Own7 {};
}  // namespace modules::utils
namespace parallel {
struct Own8 {};
}  // namespace parallel
}  // namespace nn
namespace optim {
struct OwnSgd : SGD {
  using SGD::SGD;
};
}  // namespace optim
namespace data {
inline DataLoaderOptions own_options() { return DataLoaderOptions().batch_size(2); }
namespace datasets {
struct OwnSet : Dataset<OwnSet> {
  Example<> get(size_t i) override { return {torch::full({1}, static_cast<double>(i)), torch::zeros({1})}; }
  torch::optional<size_t> size() const override { return 4; }
};
}  // namespace datasets
namespace samplers {
inline SequentialSampler own_sampler() { return SequentialSampler(3); }
}  // namespace samplers
namespace transforms {
inline Stack<> own_stack() { return {}; }
}  // namespace transforms
namespace detail {
inline Queue<int> own_queue() { return {}; }
}  // namespace detail
}  // namespace data
namespace serialize {
inline OutputArchive own_archive() { return OutputArchive(); }
}  // namespace serialize
namespace jit {
struct Own9 {};
}  // namespace jit
namespace cuda {
inline auto own_count() { return device_count(); }
}  // namespace cuda
namespace mps {
inline bool own_mps() { return is_available(); }
}  // namespace mps
namespace xpu {
inline bool own_xpu() { return is_available(); }
}  // namespace xpu
namespace fft {
inline Tensor own_rfft(const Tensor& x) { return rfft(x); }
}  // namespace fft
namespace special {
inline Tensor own_expit(const Tensor& x) { return expit(x); }
}  // namespace special
namespace linalg {
struct Own10 {};
}  // namespace linalg
namespace nested {
struct Own11 {};
}  // namespace nested
namespace sparse {
struct Own12 {};
}  // namespace sparse
namespace enumtype {
using OwnNone = kNone;
}  // namespace enumtype
namespace profiler {
struct Own13 {};
}  // namespace profiler
namespace utils {
struct Own14 {};
}  // namespace utils
namespace detail {
struct Own15 {};
}  // namespace detail
}  // namespace torch

namespace {
using Map = std::unordered_map<torch::Device, int>;

// Every namespace is found under `using namespace torch`, before and beside what was added.
namespace unqualified {
using namespace torch;
Tensor run() {
  nn::OwnNet net;
  auto y = autograd::OwnCube::apply(net(ones({1, 2})).sum());
  auto g = autograd::grad({y}, {net->fc->bias}, {}, /*retain_graph=*/std::nullopt, false, /*allow_unused=*/true);
  data::datasets::OwnSet set;
  optim::OwnSgd sgd(net->parameters(), optim::SGDOptions(0.1));
  sgd.step();
  fft::own_rfft(fft::rfft(ones({4})).abs());
  special::own_expit(special::expm1(ones({1})));
  nn::functional::own_gelu(nn::functional::relu(ones({1})));
  nn::init::own_ones(nn::init::zeros_(ones({1})));
  serialize::own_archive();
  return own_twice(own_square(ones({2})));
}
}  // namespace unqualified
}  // namespace

TEST(NamesReopened, WhatIsAddedAndWhatWasThereAreFound) {
  EXPECT_TRUE(c10::reopened(torch::kCPU));
  EXPECT_EQ(c10::WarningUtils::own_always(), c10::WarningUtils::get_warnAlways());
  const auto x = torch::arange(4, torch::kFloat);
  EXPECT_TRUE(at::native::own_relu(x).equal(x));
  EXPECT_EQ(x.index({at::indexing::own_slice()}).item<float>(), 1);
  EXPECT_EQ(x.index({torch::indexing::Slice(2, 3)}).item<float>(), 2);
  EXPECT_FALSE(at::autocast::own_enabled());
  EXPECT_EQ(at::Reduction::own_mean(), at::Reduction::Mean);
  EXPECT_GT(at::internal::own_grain(), 0);
  EXPECT_FALSE(at::cuda::own_cuda());
  EXPECT_EQ(unqualified::run().sum().item<float>(), 4);
}

TEST(NamesReopened, AFunctionOfTheirOwnInTorchAutogradHasItsGradient) {
  auto x = torch::full({1}, 2.0, torch::requires_grad());
  torch::autograd::OwnCube::apply(x).backward();
  EXPECT_EQ(x.grad().item<float>(), 12);
  EXPECT_TRUE(torch::autograd::impl::own_edge(x).is_valid());
}

TEST(NamesReopened, TheRestOfTorch) {
  EXPECT_EQ(torch::data::own_options().batch_size(), 2u);
  EXPECT_EQ(torch::data::samplers::own_sampler().next(2)->size(), 2u);
  auto queue = torch::data::detail::own_queue();
  queue.push(3);
  EXPECT_EQ(queue.pop(), 3);
  EXPECT_EQ(torch::nn::utils::rnn::own_pack(torch::ones({1, 2, 3})).data().size(0), 2);
  EXPECT_EQ(torch::cuda::own_count(), 0);
  EXPECT_EQ(c10::cuda::own_count(), 0);
  EXPECT_FALSE(torch::mps::own_mps() || torch::xpu::own_xpu());
  const Map map = {{torch::kCPU, 1}, {torch::Device(torch::kCUDA, 1), 2}};
  EXPECT_EQ(map.at(torch::Device("cuda:1")), 2);
}

double mentioned::first_value(const at::Tensor& t) { return t.flatten()[0].item<double>(); }

TEST(NamesReopened, AClassThatAHeaderMentionedIsTheSame) {
  EXPECT_EQ(mentioned::first_value(torch::full({2}, 3.0)), 3);
}

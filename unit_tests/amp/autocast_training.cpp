// Programs that train under autocast, and functions of a program's own.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using torch::Tensor;
namespace nn = torch::nn;

// The share of the first loss that is left after the steps, which all parameters' gradients must reach in float32.
template <class Net>
double train(Net net, const Tensor& x, const std::function<Tensor(Net&)>& loss_of, torch::Dtype half, int steps) {
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-2));
  double first = 0, last = 0;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    Tensor loss;
    {
      torch::autocast guard(torch::kCPU, half);
      loss = loss_of(net);
    }
    EXPECT_EQ(loss.scalar_type(), torch::kFloat);
    loss.backward();
    for (const auto& p : net->named_parameters()) {
      EXPECT_TRUE(p.value().grad().defined()) << p.key();
      EXPECT_EQ(p.value().grad().scalar_type(), torch::kFloat) << p.key();
    }
    optimizer.step();
    last = loss.template item<double>();
    if (i == 0) first = last;
  }
  return last / first;
}

class AutocastTraining : public testing::TestWithParam<torch::Dtype> {
 protected:
  void SetUp() override { torch::manual_seed(3); }
};
INSTANTIATE_TEST_SUITE_P(Halves, AutocastTraining, testing::Values(torch::kBFloat16, torch::kHalf));

TEST_P(AutocastTraining, Perceptron) {
  const auto x = torch::randn({32, 16}), y = torch::randint(4, {32}, torch::kLong);
  nn::Sequential net(nn::Linear(16, 32), nn::ReLU(), nn::LayerNorm(nn::LayerNormOptions({32})), nn::Linear(32, 4));
  const auto loss = [&](nn::Sequential& n) {
    const auto logits = n->forward(x);
    EXPECT_EQ(logits.scalar_type(), GetParam());
    return nn::functional::cross_entropy(logits, y);
  };
  EXPECT_LT(train<nn::Sequential>(net, x, loss, GetParam(), 60), 0.2);
}

TEST_P(AutocastTraining, ConvolutionalNet) {
  const auto x = torch::randn({16, 1, 8, 8}), y = torch::randint(4, {16}, torch::kLong);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::BatchNorm2d(8), nn::ReLU(),
                     nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(8, 8, 3).padding(1)), nn::GroupNorm(2, 8),
                     nn::GELU(), nn::AdaptiveAvgPool2d(2), nn::Flatten(), nn::Linear(32, 4));
  const auto loss = [&](nn::Sequential& n) { return nn::functional::cross_entropy(n->forward(x), y); };
  EXPECT_LT(train<nn::Sequential>(net, x, loss, GetParam(), 60), 0.2);
}

TEST_P(AutocastTraining, TransformerBlock) {
  const auto x = torch::randn({6, 4, 16}), y = torch::randn({6, 4, 16});
  nn::TransformerEncoderLayer net(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0));
  const auto loss = [&](nn::TransformerEncoderLayer& n) { return nn::functional::mse_loss(n->forward(x), y); };
  EXPECT_LT(train<nn::TransformerEncoderLayer>(net, x, loss, GetParam(), 100), 0.7);
}

TEST_P(AutocastTraining, RecurrentNet) {
  const auto x = torch::randn({5, 8, 6}), y = torch::randn({5, 8, 6});
  nn::LSTM net(nn::LSTMOptions(6, 6).num_layers(2).bidirectional(false));
  const auto loss = [&](nn::LSTM& n) { return nn::functional::mse_loss(std::get<0>(n->forward(x)), y); };
  EXPECT_LT(train<nn::LSTM>(net, x, loss, GetParam(), 60), 0.9);
}

// The loss and its gradient are computed in float32, though the graph keeps half logits: no factor overflows.
TEST(AutocastLoss, CrossEntropyOfHalfLogitsSurvivesLargeScales) {
  torch::manual_seed(5);
  const auto logits = torch::randn({64, 10}).to(torch::kHalf).requires_grad_();
  const auto wide = logits.detach().to(torch::kFloat).requires_grad_();
  const auto target = torch::randint(10, {64}, torch::kLong);
  Tensor loss;
  {
    torch::autocast guard(torch::kCPU, torch::kHalf);
    loss = nn::functional::cross_entropy(logits, target);
  }
  const auto reference = nn::functional::cross_entropy(wide, target);
  EXPECT_EQ(loss.item<float>(), reference.item<float>());
  (loss * 131072).backward();  // above what half holds
  (reference * 131072).backward();
  EXPECT_EQ(logits.grad().scalar_type(), torch::kHalf);
  EXPECT_TRUE(torch::equal(logits.grad(), wide.grad().to(torch::kHalf)));
}

// Forward in the dtype that autocast has there, backward likewise.
struct Product : torch::autograd::Function<Product> {
  static inline torch::Dtype forward_dtype, backward_dtype;
  static inline bool cast = false;
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor a, Tensor b) {
    const auto body = [&](const Tensor& x, const Tensor& y) {
      ctx->save_for_backward({x, y});
      const Tensor out = x.mm(y);
      forward_dtype = out.scalar_type();
      return out;
    };
    if (cast) return torch::amp::custom_fwd(ctx, torch::kCPU, torch::kFloat, body, a, b);
    return torch::amp::custom_fwd(ctx, torch::kCPU, body, a, b);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list g) {
    return torch::amp::custom_bwd(ctx, torch::kCPU, [&]() -> torch::autograd::variable_list {
      const auto s = ctx->get_saved_variables();
      const Tensor da = g[0].mm(s[1].t());
      backward_dtype = da.scalar_type();
      return {da, s[0].t().mm(g[0])};
    });
  }
};

void product(bool cast, bool autocast_forward, bool autocast_backward, torch::Dtype input = torch::kFloat) {
  Product::cast = cast;
  const auto a = torch::ones({2, 2}, input).requires_grad_(), b = torch::ones({2, 2}, input).requires_grad_();
  Tensor out;
  {
    torch::autocast guard(torch::kCPU, torch::kHalf, autocast_forward);
    out = Product::apply(a, b);
  }
  torch::autocast guard(torch::kCPU, torch::kBFloat16, autocast_backward);
  out.backward(torch::ones_like(out));
  EXPECT_EQ(a.grad().scalar_type(), input);
}

// The float32 loss of half logits is computed from them as they are: the bits are those of a copy in float32, which
// nobody makes.
TEST(AutocastLoss, CrossEntropyOfHalfLogitsNeedsNoCopyInFloat) {
  namespace F = torch::nn::functional;
  const int64_t rows = 1024, classes = 2048;
  const auto y = torch::randint(classes, {rows}, torch::kLong);
  y[3] = -100;
  for (const auto dtype : {torch::kHalf, torch::kBFloat16}) {
    for (const double smoothing : {0.0, 0.1}) {
      const auto options = F::CrossEntropyFuncOptions().label_smoothing(smoothing);
      const auto x = torch::randn({rows, classes}).to(dtype).requires_grad_();
      const auto wide = x.detach().to(torch::kFloat).requires_grad_();
      auto expected = F::cross_entropy(wide, y, options);
      (expected * 1024).backward();
      const size_t before = hb::memory_in_use(torch::kCPU);
      hb::reset_peak_memory(torch::kCPU);
      torch::Tensor loss;
      {
        torch::autocast guard(torch::kCPU, dtype);
        loss = F::cross_entropy(x, y, options);
      }
      (loss * 1024).backward();
      const size_t gradient = rows * classes * 2;
      EXPECT_LT(hb::peak_memory(torch::kCPU) - before, gradient + gradient / 2);
      EXPECT_EQ(loss.scalar_type(), torch::kFloat);
      EXPECT_TRUE(torch::equal(loss, expected));
      EXPECT_TRUE(torch::equal(x.grad(), wide.grad().to(dtype)));
    }
  }
}

TEST(AutocastFunction, BackwardRunsInTheStateOfForward) {
  product(false, true, false);
  EXPECT_EQ(Product::forward_dtype, torch::kHalf);
  EXPECT_EQ(Product::backward_dtype, torch::kHalf);
  product(false, false, true);
  EXPECT_EQ(Product::forward_dtype, torch::kFloat);
  EXPECT_EQ(Product::backward_dtype, torch::kFloat);
}

TEST(AutocastFunction, CastInputsSwitchAutocastOff) {
  product(true, true, true);
  EXPECT_EQ(Product::forward_dtype, torch::kFloat);
  EXPECT_EQ(Product::backward_dtype, torch::kFloat);
  product(true, true, false, torch::kHalf);  // half inputs come as float32
  EXPECT_EQ(Product::forward_dtype, torch::kFloat);
  product(true, false, false, torch::kHalf);  // outside autocast nothing is cast
  EXPECT_EQ(Product::forward_dtype, torch::kHalf);
}

// The second call of a checkpointed function, in the backward pass, casts as the first did.
TEST(AutocastFunction, CheckpointsRepeatTheCasts) {
  const auto x = torch::randn({4, 4}), w = torch::randn({4, 4}).requires_grad_();
  const auto gradient = [&](bool checkpointed) {
    Tensor out;
    {
      torch::autocast guard(torch::kCPU, torch::kBFloat16);
      const auto body = [w](const Tensor& in) { return torch::mm(torch::mm(in, w), w); };
      out = checkpointed ? torch::checkpoint(body, x) : body(x);
      EXPECT_EQ(out.scalar_type(), torch::kBFloat16);
    }
    return torch::autograd::grad({out.sum()}, {w})[0];
  };
  EXPECT_TRUE(torch::equal(gradient(true), gradient(false)));
  EXPECT_EQ(at::autocast::cache_size(), 0u);
}

struct Forgetful : torch::autograd::Function<Forgetful> {
  static Tensor forward(torch::autograd::AutogradContext*, Tensor a) { return a * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list g) {
    return torch::amp::custom_bwd(ctx, torch::kCPU, [&]() -> torch::autograd::variable_list { return {g[0] * 2}; });
  }
};
TEST(AutocastFunction, CustomBwdWithoutCustomFwdThrows) {
  const auto out = Forgetful::apply(torch::ones({2}).requires_grad_());
  EXPECT_THROW(out.sum().backward(), c10::Error);
}

TEST(AutocastLists, ClassesByDeviceType) {
  using at::autocast::op_class;
  using at::autocast::OpClass;
  EXPECT_EQ(op_class("mm", torch::kCPU), OpClass::half);
  EXPECT_EQ(op_class("exp", torch::kCPU), OpClass::as_is);
  EXPECT_EQ(op_class("exp", torch::kCUDA), OpClass::fp32);
  EXPECT_EQ(op_class("softmax", torch::kCUDA), OpClass::fp32_dtype);
  EXPECT_EQ(op_class("cat", torch::kCPU), OpClass::widest);
  EXPECT_EQ(op_class("no_such_function", torch::kCPU), OpClass::as_is);
}

TEST(AutocastLists, UnsafeFunctionsThrow) {
  at::autocast::set_op_list(torch::kCPU, torch::kCUDA);
  {
    torch::autocast guard(torch::kCPU, torch::kHalf);
    EXPECT_THROW(torch::binary_cross_entropy(torch::rand({2}), torch::rand({2})), c10::Error);
    EXPECT_EQ(torch::softmax(torch::ones({2}, torch::kHalf), 0, torch::kHalf).scalar_type(), torch::kHalf);
  }
  at::autocast::set_op_list(torch::kCPU, torch::kCPU);
}

}  // namespace

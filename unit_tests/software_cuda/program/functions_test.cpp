// The CUDA back end's functions on the software device beside the CPU: products, convolutions, losses, norms, pooling,
// attention, indexing, order, Fourier transforms; their gradients too.
#include "software_cuda/program/beside_cpu.h"

#include <limits>

namespace {

TEST(SoftwareFunctions, Products) {
  for (const torch::Dtype t : kFloats) {
    const auto mm = [](auto& in) { return in[0].matmul(in[1]); };
    expect_same("mm", mm, {values({5, 7}, t), values({7, 3}, t, 1)});
    expect_same("mm of transposes", mm, {values({7, 5}, t).t(), values({3, 7}, t, 1).t()});
    expect_same("mv", mm, {values({5, 7}, t), values({7}, t, 1)});
    expect_same("bmm", mm, {values({4, 5, 7}, t), values({4, 7, 3}, t, 1)});
    expect_same("stacks", mm, {values({2, 3, 5, 7}, t), values({2, 1, 7, 3}, t, 1)});
    expect_same("strided", mm, {values({5, 14}, t).slice(1, 0, 14, 2), values({7, 3}, t, 1)});
    expect_same("addmm", [](auto& in) { return torch::addmm(in[0], in[1], in[2], 0.5, 2); },
                {values({5, 3}, t, 2), values({5, 7}, t), values({7, 3}, t, 1)});
    expect_same("linear", [](auto& in) { return F::linear(in[0], in[1], in[2]); },
                {values({40, 7}, t), values({3, 7}, t, 1), values({3}, t, 2)});
  }
  expect_same("sums of nothing", [](auto& in) { return F::linear(in[0], in[1], in[2]); },
              {values({4, 0}), values({3, 0}), values({3})});
  expect_same("integers", [](auto& in) { return in[0].mm(in[1]); },
              {torch::arange(12).view({3, 4}), torch::arange(20).view({4, 5})});
}

TEST(SoftwareFunctions, SoftmaxAndLosses) {
  for (const torch::Dtype t : kFloats) {
    for (const int64_t dim : {0, 1, 2}) {
      expect_same("softmax", [=](auto& in) { return torch::softmax(in[0], dim); }, {values({3, 40, 5}, t)});
      expect_same("log_softmax", [=](auto& in) { return torch::log_softmax(in[0], dim); }, {values({3, 40, 5}, t)});
    }
    const Tensor target = torch::tensor({3, 0, -100, 4, 1, 1});
    for (const int kind : {0, 1, 2, 3}) {
      auto options = F::CrossEntropyFuncOptions().label_smoothing(kind == 3 ? 0.1 : 0.0);
      if (kind == 1) options.reduction(torch::kSum);
      if (kind == 2) options.reduction(torch::kNone);
      expect_same("cross_entropy", [&](auto& in) { return F::cross_entropy(in[0], in[1], options); },
                  {values({6, 5}, t), target});
    }
    expect_same("nll of planes", [](auto& in) { return F::nll_loss(torch::log_softmax(in[0], 1), in[1]); },
                {values({2, 5, 3}, t), torch::tensor({{3, 0, 1}, {4, 1, 1}})});
    expect_same("mse", [](auto& in) { return F::mse_loss(in[0], in[1]); }, {values({9, 5}, t), values({9, 5}, t, 1)});
    expect_same("huber none",
                [](auto& in) { return F::huber_loss(in[0], in[1], F::HuberLossFuncOptions().reduction(torch::kNone)); },
                {values({9, 5}, t), values({9, 5}, t, 1)});
    expect_same("bce_logits", [](auto& in) { return F::binary_cross_entropy_with_logits(in[0], in[1].sigmoid()); },
                {values({9, 5}, t), values({9, 5}, t, 1)});
  }
}

TEST(SoftwareFunctions, Convolutions) {
  for (const torch::Dtype t : kFloats) {
    expect_same("conv2d", [](auto& in) { return torch::conv2d(in[0], in[1], in[2], 2, 1); },
                {values({2, 4, 9, 8}, t), values({6, 4, 3, 3}, t, 1), values({6}, t, 2)});
    expect_same("groups", [](auto& in) { return torch::conv2d(in[0], in[1], {}, 1, 1, 1, 2); },
                {values({2, 4, 6, 6}, t), values({6, 2, 3, 3}, t, 1)});
  }
  expect_same("conv1d", [](auto& in) { return torch::conv1d(in[0], in[1], in[2], 1, 2, 2); },
              {values({2, 4, 19}), values({6, 4, 3}, torch::kFloat, 1), values({6}, torch::kFloat, 2)});
  expect_same("conv3d", [](auto& in) { return torch::conv3d(in[0], in[1], in[2]); },
              {values({2, 3, 5, 6, 4}), values({4, 3, 2, 3, 2}, torch::kFloat, 1), values({4}, torch::kFloat, 2)});
  expect_same("conv_transpose2d", [](auto& in) { return torch::conv_transpose2d(in[0], in[1], in[2], 2, 1, 1); },
              {values({2, 4, 5, 6}), values({4, 3, 3, 3}, torch::kFloat, 1), values({3}, torch::kFloat, 2)});
}

TEST(SoftwareFunctions, PoolingAndNorms) {
  for (const torch::Dtype t : kFloats) {
    expect_same("max_pool2d", [](auto& in) { return torch::max_pool2d(in[0], 3, 2, 1); }, {values({2, 3, 9, 8}, t)});
    expect_same("avg_pool2d", [](auto& in) { return torch::avg_pool2d(in[0], 3, 2, 1); }, {values({2, 3, 9, 8}, t)});
    expect_same("adaptive",
                [](auto& in) {
                  return torch::adaptive_avg_pool2d(in[0], {2, 3});
                },
                {values({2, 3, 9, 8}, t)});
    expect_same("layer_norm", [](auto& in) { return torch::layer_norm(in[0], {33}, in[1], in[2]); },
                {values({6, 33}, t), values({33}, t, 1), values({33}, t, 2)});
    for (const bool training : {true, false})
      expect_same("batch_norm",
                  [=](auto& in) {
                    Tensor mean = torch::full({3}, 0.1, in[0].options()), var = torch::full({3}, 2, in[0].options());
                    const Tensor y = torch::batch_norm(in[0], in[1], in[2], mean, var, training, 0.1, 1e-5, true);
                    return y + (mean + var).detach().view({3, 1, 1});
                  },
                  {values({4, 3, 5, 6}, t), values({3}, t, 1), values({3}, t, 2)});
  }
  expect_same("max_pool3d", [](auto& in) { return torch::max_pool3d(in[0], 2); }, {values({2, 3, 5, 6, 4})});
  expect_same("group_norm", [](auto& in) { return torch::group_norm(in[0], 2, in[1], in[2]); },
              {values({3, 4, 5, 5}), values({4}, torch::kFloat, 1), values({4}, torch::kFloat, 2)});
}

TEST(SoftwareFunctions, PoolingOfWindowsThatDiffer) {
  for (const torch::Dtype t : kFloats) {
    expect_same("adaptive_max_pool2d",
                [](auto& in) {
                  const auto [most, at] = torch::adaptive_max_pool2d(in[0], {3, 2});
                  return most + at.to(most.scalar_type()) * 0.01;
                },
                {values({5, 3, 7, 8}, t)});
    expect_same("dilated",
                [](auto& in) {
                  return torch::max_pool2d(in[0], {3, 2}, {2, 1}, {1, 1}, {2, 3}, true);
                },
                {values({2, 3, 11, 10}, t)});
    expect_same("col2im",
                [](auto& in) {
                  return torch::col2im(in[0], {9, 8}, {3, 2}, {2, 2}, {1, 0}, {2, 1});
                },
                {values({2, 18, 24}, t)});
  }
  expect_same("avg_pool3d", [](auto& in) { return torch::avg_pool3d(in[0], 3, 2, 1, true, false); },
              {values({2, 3, 6, 5, 4})});
  // so many planes that a thread takes several
  expect_same("max_pool2d of many planes", [](auto& in) { return torch::max_pool2d(in[0], 2); },
              {values({16, 64, 32, 32})});
}

TEST(SoftwareFunctions, BatchNormsOfManyElements) {
  const auto norm = [](auto& in) { return torch::batch_norm(in[0], in[1], in[2], {}, {}, true, 0.1, 1e-5, true); };
  for (const torch::Dtype t : kFloats)
    for (const int64_t channels : {3, 16})
      for (const bool last : {false, true}) {
        Tensor x = values({8, channels, 30, 32}, t);
        if (last) x = x.contiguous(torch::MemoryFormat::ChannelsLast);
        expect_same("batch_norm", norm, {x, values({channels}, t, 1), values({channels}, t, 2)});
      }
  expect_same("instance_norm",
              [](auto& in) { return torch::instance_norm(in[0], {}, {}, {}, {}, true, 0.1, 1e-5, true); },
              {values({3, 5, 7, 9})});
}

TEST(SoftwareFunctions, PairsOfRowsAndVectors) {
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble})
    for (const double p : {0., 1., 2., std::numeric_limits<double>::infinity()})
      expect_same("pdist", [=](auto& in) { return torch::pdist(in[0], p); }, {values({41, 45}, t)});
  for (const torch::Dtype t : kFloats) {
    for (const int64_t n : {20'011, 300})
      expect_same("dot", [](auto& in) { return in[0].dot(in[1]); }, {values({n}, t), values({n}, t, 1)});
    for (const int64_t off : {0, 1}) {
      const Tensor x = values({5000}, t).to(torch::kCUDA).slice(0, off), y = x.clone();
      EXPECT_TRUE(x.equal(y));
      for (const int64_t at : {0, 100, 4998}) EXPECT_FALSE(x.equal(y.index_fill(0, torch::full({1}, at, kGpu), 7)));
    }
    for (const bool whole : {false, true})
      expect_same("aminmax",
                  [=](auto& in) {
                    const auto [low, high] = whole ? torch::aminmax(in[0]) : torch::aminmax(in[0], 1);
                    return low * 2 + high;
                  },
                  {values({30, 400}, t)});
  }
}

TEST(SoftwareFunctions, EmbeddingAndAttention) {
  for (const torch::Dtype t : kFloats) {
    expect_same("embedding", [](auto& in) { return torch::embedding(in[0], in[1], 2); },
                {values({9, 6}, t), torch::tensor({{1, 2, 8}, {1, 1, 0}})});
    for (const bool causal : {false, true})
      expect_same("attention",
                  [=](auto& in) { return at::scaled_dot_product_attention(in[0], in[1], in[2], {}, 0, causal); },
                  {values({2, 3, 40, 16}, t), values({2, 3, 40, 16}, t, 1), values({2, 3, 40, 8}, t, 2)});
    expect_same(
        "masked attention", [](auto& in) { return at::scaled_dot_product_attention(in[0], in[1], in[2], in[3]); },
        {values({2, 4, 5, 80}, t), values({2, 4, 37, 80}, t, 1), values({2, 4, 37, 80}, t, 2), values({5, 37}, t, 3)});
    for (const bool causal : {false, true})  // two heads for each head of the keys
      expect_same("grouped attention",
                  [=](auto& in) {
                    return at::scaled_dot_product_attention(in[0], in[1], in[2], {}, 0, causal, {},
                                                            /*enable_gqa=*/true);
                  },
                  {values({2, 4, 33, 16}, t), values({2, 2, 33, 16}, t, 1), values({2, 2, 33, 16}, t, 2)});
  }
}

// Its dropout is that of the shares: the seed that drops them there drops them here.
TEST(SoftwareFunctions, AttentionWithDropout) {
  const Tensor q = values({2, 3, 9, 16}).to(kGpu).requires_grad_(),
               k = values({2, 3, 9, 16}, torch::kFloat, 1).to(kGpu);
  const auto gradient = [&](const std::function<Tensor()>& f) {
    torch::manual_seed(3);
    const Tensor y = f();
    return std::make_pair(y, torch::autograd::grad({y.square().sum()}, {q})[0]);
  };
  const auto whole = gradient([&] { return at::scaled_dot_product_attention(q, k, k, {}, 0.4); });
  const auto parts = gradient(
      [&] { return torch::matmul(torch::dropout(torch::softmax(torch::matmul(q, k.mT()) * 0.25, -1), 0.4, true), k); });
  expect_close("values", whole.first.detach(), parts.first.detach().cpu(), 1e-5);
  expect_close("gradient", whole.second, parts.second.cpu(), 1e-5);
}

TEST(SoftwareFunctions, Indexing) {
  const Tensor rows = torch::tensor({2, 0, 2, 3});
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kLong, torch::kByte}) {
    expect_same("index_select", [](auto& in) { return in[0].index_select(1, in[1]); }, {values({3, 5, 4}, t), rows});
    expect_same("index_add", [](auto& in) { return in[0].index_add(0, in[1], in[2]); },
                {values({5, 4}, t), rows, values({4, 4}, t, 1)});
    expect_same("gather", [](auto& in) { return in[0].gather(1, in[1]); },
                {values({3, 5}, t), torch::tensor({{0, 4}, {1, 1}, {3, 2}})});
    expect_same("scatter_add", [](auto& in) { return in[0].scatter_add(1, in[1], in[2]); },
                {values({3, 5}, t), torch::tensor({{0, 4}, {1, 1}, {3, 2}}), values({3, 2}, t, 1)});
    expect_same("many to one", [](auto& in) { return in[0].scatter_add(0, in[1], in[2]); },
                {values({3}, t), torch::arange(100).remainder(3), torch::ones({100}).to(t)});
    expect_same("masked_select", [](auto& in) { return in[0].masked_select(in[0] > 0); }, {values({3, 5}, t)});
    expect_same("nonzero", [](auto& in) { return (in[0] > 0).nonzero(); }, {values({3, 5}, t)});
    expect_same("index", [](auto& in) { return in[0].index({in[1]}); }, {values({5, 4}, t), rows});
  }
  const Tensor many = values({3, 57, 61});  // more than a block looks at
  for (const double above : {-3.0, 0.0, 1.9, 3.0}) {
    expect_same("many places", [=](auto& in) { return (in[0] > above).nonzero(); }, {many});
    expect_same("many selected", [=](auto& in) { return in[0].masked_select(in[0] > above); }, {many});
    expect_same("many by a mask", [=](auto& in) { return in[0].index({in[0] > above}); }, {many});
    expect_same("many scattered", [=](auto& in) { return in[0].masked_scatter(in[0] > above, in[1]); },
                {many, values({3, 57, 61}, torch::kFloat, 1)});
  }
  expect_same("places in two dimensions",
              [](auto& in) {
                return in[0].index({in[1], in[1]});
              },
              {values({5, 4}), torch::tensor({{2, -1}, {-3, 0}})});
  Tensor x = torch::ones({4, 2}, kGpu);
  const auto use = [&] { return x.index_select(0, torch::tensor({7}).to(kGpu)).cpu(); };
  EXPECT_THROW(use(), c10::IndexError);
  EXPECT_NO_THROW(torch::cuda::synchronize());
}

TEST(SoftwareFunctions, OrderAndRunningSums) {
  const std::vector<torch::Dtype> dtypes{torch::kFloat, torch::kDouble, torch::kHalf, torch::kLong, torch::kByte};
  for (const torch::Dtype t : dtypes) {
    const Tensor x =
        t == torch::kByte ? values({5, 70, 3}).mul(9).abs().to(t) : values({5, 70, 3}).mul(9).round().to(t);
    for (const bool descending : {false, true})
      for (const int64_t dim : {0, 1, 2}) {
        expect_same("sort", [=](auto& in) { return std::get<0>(in[0].sort(dim, descending)); }, {x});
        expect_same("argsort", [=](auto& in) { return in[0].detach().argsort(/*stable=*/true, dim, descending); }, {x});
        expect_same("topk", [=](auto& in) { return std::get<0>(in[0].topk(2, dim, descending)); }, {x});
      }
    if (t != torch::kByte) expect_same("median", [](auto& in) { return std::get<0>(in[0].median(1)); }, {x});
    for (const int64_t dim : {0, 1, 2}) {
      expect_same("cumsum", [=](auto& in) { return in[0].cumsum(dim); }, {x});
      expect_same("cummax", [=](auto& in) { return std::get<0>(in[0].cummax(dim)); }, {x});
    }
    expect_same("searchsorted",
                [](auto& in) { return torch::searchsorted(std::get<0>(in[0].detach().sort(1)), in[1].detach()); },
                {x.select(2, 0).contiguous(), x.select(2, 1).contiguous()});
  }
  Tensor special = values({200});
  special[3] = NAN, special[9] = INFINITY, special[10] = -0.0, special[11] = 0.0, special[12] = -INFINITY;
  expect_same("sort", [](auto& in) { return in[0].detach().argsort(true, 0, false); }, {special});
  expect_same("cumprod", [](auto& in) { return in[0].cumprod(0); }, {values({300}, torch::kDouble)});
  expect_same("logcumsumexp", [](auto& in) { return in[0].logcumsumexp(0); }, {values({300}, torch::kDouble)});
  expect_same("bincount", [](auto& in) { return in[0].bincount(); }, {torch::arange(100).remainder(7)});
}

TEST(SoftwareFunctions, PaddingResamplingAndRecurrence) {
  for (const torch::Dtype t : kFloats) {
    const Tensor x = values({2, 3, 5, 6}, t);
    expect_same("reflect", [](auto& in) { return torch::reflection_pad2d(in[0], {1, 2, 3, 1}); }, {x});
    expect_same("replicate", [](auto& in) { return torch::replication_pad2d(in[0], {1, 2, 3, 1}); }, {x});
    expect_same("nearest",
                [](auto& in) {
                  return F::interpolate(in[0], F::InterpolateFuncOptions().size(std::vector<int64_t>{9, 4}));
                },
                {x});
    expect_same("roll", [](auto& in) { return in[0].roll({1, 2}, {2, 3}); }, {x});
  }
  expect_same("long lists", [](auto& in) { return torch::reflection_pad1d(in[0], {5, 7}); }, {values({1, 2, 3000})});
  const auto lstm = [](const torch::Device& device) {
    torch::manual_seed(1);
    nn::LSTM net(nn::LSTMOptions(5, 7).num_layers(2));
    net->to(device);
    Tensor x = values({4, 3, 5}).to(device).requires_grad_();
    const Tensor y = std::get<0>(net->forward(x));
    y.square().sum().backward();
    return std::vector<Tensor>{y.detach(), x.grad(), net->parameters()[1].grad()};
  };
  const auto expected = lstm(torch::kCPU), got = lstm(kGpu);
  for (size_t i = 0; i < got.size(); ++i) expect_close("lstm", got[i], expected[i], 2e-5);
}

TEST(SoftwareFunctions, Spectra) {
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble}) {
    const Tensor x = values({3, 10, 5}, t);
    const auto real = [](const Tensor& z) { return torch::view_as_real(z); };
    for (const int64_t dim : {0, 1, 2}) {
      expect_same("fft", [=](auto& in) { return real(torch::fft_fft(in[0], {}, dim)); }, {x});
      expect_same("rfft", [=](auto& in) { return real(torch::fft_rfft(in[0], {}, dim, "ortho")); }, {x});
      expect_same("irfft", [=](auto& in) { return torch::fft_irfft(torch::complex(in[0], in[0].flip({0})), {}, dim); },
                  {x});
    }
    expect_same("ifft2", [=](auto& in) { return real(torch::fft_ifft2(torch::complex(in[0], -in[0]))); }, {x});
  }
}

}  // namespace

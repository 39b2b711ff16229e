// Memory that runs out in the middle of a function: the k-th block of tensor or scratch memory is refused, for every k.
// The function throws, loses nothing and computes the same afterwards.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <halfbridge/storage.h>
#include <torch/torch.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {
thread_local int64_t allowed = INT64_MAX;  // blocks that this thread still gets
thread_local bool refused = false;

// oneDNN does not look at what it gets for its descriptions (limits_address_space.cpp). Its calls come here only where
// sanitizers have it loaded among the program's own symbols.
bool is_onednn(const void* caller) {
  Dl_info library;
  return dladdr(caller, &library) && std::strstr(library.dli_fname, "libdnnl");
}
}  // namespace

// Stands before the C library's for the library under test too: its blocks of tensors and scratch come from here.
extern "C" __attribute__((visibility("default"))) int posix_memalign(void** out, size_t align, size_t bytes) noexcept {
  if (allowed != INT64_MAX && !is_onednn(__builtin_return_address(0)) && allowed-- <= 0) {
    refused = true;
    return ENOMEM;
  }
  *out = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  return *out ? 0 : ENOMEM;
}

namespace {

using torch::Tensor;
namespace F = torch::nn::functional;

struct Inputs {
  Tensor x = torch::randn({4, 6}).requires_grad_(), y = torch::randn({4, 6}).requires_grad_();
  Tensor square = torch::randn({5, 5}).requires_grad_(), image = torch::randn({2, 4, 6, 6}).requires_grad_();
  Tensor weight = torch::randn({4, 4, 3, 3}).requires_grad_(), bias = torch::randn({4}).requires_grad_();
  Tensor line = torch::randn({2, 3, 9}).requires_grad_(), kernel = torch::randn({3, 3, 3}).requires_grad_();
  Tensor positive = torch::rand({4, 6}).add(0.5).requires_grad_(),
         half = torch::randn({4, 6}, torch::kHalf).requires_grad_();
  Tensor volume = torch::randn({1, 2, 4, 4, 4}).requires_grad_(), table = torch::randn({7, 3}).requires_grad_();
  Tensor index = torch::tensor({0, 2, 1, 3}), labels = torch::tensor({0, 5, 2, 1});
  Tensor mask = torch::arange(24).remainder(3).eq(0).view({4, 6});
  Tensor row = torch::randn({6}).requires_grad_(), batch = torch::randn({3, 4, 5}).requires_grad_();
};
using Function = std::function<Tensor(const Inputs&)>;
struct Case {
  const char* name;
  Function run;
};
#define CASE(...)                                                       \
  Case {                                                                \
#__VA_ARGS__, [](const Inputs& i) -> Tensor { return __VA_ARGS__; } \
  }

std::vector<Tensor> leaves(const Inputs& i) {
  return {i.x,      i.y,        i.square, i.image,  i.weight, i.bias, i.line,
          i.kernel, i.positive, i.half,   i.volume, i.table,  i.row,  i.batch};
}

void forward_backward(const Function& f, const Inputs& in) {
  const Tensor out = f(in);
  if (out.requires_grad()) out.sum().backward();
}

/// Everything on a thread of its own, whose caches are empty: then every block is asked for.
void on_own_thread(const std::function<void()>& f) { std::thread(f).join(); }

void refuse_each(const Case& c, int64_t most) {
  for (int64_t k = 0; k < most; ++k) {
    bool done = false, none = true;
    std::string wrong;
    on_own_thread([&] {
      torch::manual_seed(1);
      const Inputs in;
      const size_t before = hb::memory_in_use();
      allowed = k, refused = false;
      try {
        forward_backward(c.run, in);
        done = !refused;  // nothing was refused: all is tried
        if (refused) wrong = "it went on without the block";
      } catch (const c10::Error& e) {
        if (std::string(e.what()).find("can't allocate memory: you tried to allocate") == std::string::npos)
          wrong = e.what();
      } catch (const std::exception& e) {
        wrong = e.what();
      }
      none = !refused;
      allowed = INT64_MAX;
      for (const Tensor& t : leaves(in)) t.mutable_grad() = Tensor();
      if (hb::memory_in_use() != before) wrong += " leaves memory in use";
      const Inputs again;
      if (wrong.empty() && refused) {
        torch::manual_seed(2);
        const Tensor after = c.run(in);
        torch::manual_seed(2);
        if (!after.equal(c.run(in))) wrong = "computes something else afterwards";
      }
    });
    if (k == 0) {
      EXPECT_FALSE(none) << c.name << ": nothing was refused";
    }
    EXPECT_EQ(wrong, "") << c.name << ", block " << k;
    if (done || !wrong.empty()) return;
  }
}

}  // namespace

TEST(LimitsMemory, ElementwiseAndReductions) {
  for (const Case& c : {
           CASE(i.x + i.y),
           CASE(i.x * 2 - i.y),
           CASE(i.x / i.positive),
           CASE(i.x.exp().log()),
           CASE(i.positive.pow(2.5)),
           CASE(torch::where(i.mask, i.x, i.y)),
           CASE(i.x.sigmoid().tanh()),
           CASE(torch::gelu(i.half)),
           CASE(i.x.clamp(-1, 1)),
           CASE(i.x.t() + i.y.t().contiguous()),
           CASE(i.x + i.row),
           CASE(i.x.to(torch::kBFloat16) * i.half.to(torch::kBFloat16)),
           CASE(i.x.sum(0)),
           CASE(i.x.mean({0, 1})),
           CASE(i.x.var(1)),
           CASE(i.x.norm()),
           CASE(i.x.logsumexp(1)),
           CASE(i.x.prod(1)),
           CASE(std::get<0>(i.x.max(1))),
           CASE(i.x.amin({0, 1})),
           CASE(i.x.cumsum(1)),
           CASE(i.positive.cumprod(0)),
           CASE(torch::logcumsumexp(i.x, 1)),
           CASE(i.x.std()),
           CASE(i.x.argmax(1).to(torch::kFloat)),
           CASE(i.x.nansum()),
           CASE(torch::addcmul(i.x, i.y, i.positive)),
           CASE(i.x.lerp(i.y, 0.3)),
           CASE(i.x.clone().add_(i.y).mul_(2)),
           CASE(torch::atan2(i.x, i.y)),
           CASE(i.x.erfinv().nan_to_num()),
           CASE(torch::xlogy(i.positive, i.positive)),
       })
    refuse_each(c, 400);
}

TEST(LimitsMemory, ShapesAndIndices) {
  for (const Case& c : {
           CASE(torch::cat({i.x, i.y}, 1)),
           CASE(torch::stack({i.x, i.y})),
           CASE(i.x.index_select(0, i.index)),
           CASE(i.x.gather(1, i.labels.unsqueeze(1))),
           CASE(i.x.scatter_add(1, i.labels.unsqueeze(1), i.y)),
           CASE(i.x.masked_select(i.mask)),
           CASE(i.x.masked_fill(i.mask, 2)),
           CASE(i.x.index({i.index})),
           CASE(i.x.repeat({2, 3})),
           CASE(std::get<0>(i.x.sort(1))),
           CASE(std::get<0>(i.x.topk(2, 1))),
           CASE(i.x.flip({0}).roll(1, 1)),
           CASE(i.x.tril()),
           CASE(torch::constant_pad_nd(i.x, {1, 2})),
           CASE(torch::reflection_pad2d(i.image, {1, 1, 1, 1})),
           CASE(i.x.diagonal()),
           CASE(i.x.unfold(1, 2, 2)),
           CASE(std::get<0>(torch::_unique2(i.x.detach()))),
           CASE(i.x.nonzero().to(torch::kFloat)),
           CASE(i.x.median()),
           CASE(i.x.index_add(0, i.index, i.y)),
           CASE(torch::embedding(i.table, i.index)),
           CASE(i.image.permute({0, 2, 3, 1}).contiguous()),
           CASE(i.x.expand({3, 4, 6}).contiguous()),
           CASE(i.x.chunk(2, 1)[1] * 2),
           CASE(i.x.take(i.index)),
           CASE(torch::kron(i.square, i.square)),
           CASE(i.x.index_put({i.index}, i.y)),
       })
    refuse_each(c, 400);
}

TEST(LimitsMemory, ProductsAndLinearAlgebra) {
  for (const Case& c : {
           CASE(i.square.mm(i.square)),
           CASE(torch::bmm(i.batch, i.batch.transpose(1, 2))),
           CASE(i.x.matmul(i.row)),
           CASE(torch::addmm(i.square, i.square, i.square)),
           CASE(i.half.mm(i.half.t())),
           CASE(torch::einsum("ij,kj->ik", {i.x, i.y})),
           CASE(F::linear(i.x, i.y)),
           CASE(torch::linalg_inv(i.square)),
           CASE(torch::linalg_det(i.square)),
           CASE(torch::linalg_solve(i.square, i.square)),
           CASE(std::get<0>(torch::linalg_qr(i.square))),
           CASE(torch::linalg_cholesky(i.square.mm(i.square.t()) + 5 * torch::eye(5))),
           CASE(torch::linalg_svdvals(i.square)),
           CASE(std::get<0>(torch::linalg_eigh(i.square + i.square.t()))),
           CASE(torch::fft_rfft(i.x).abs()),
           CASE(torch::fft_fft(i.x, 7).abs()),
           CASE(torch::cdist(i.x, i.y)),
           CASE(torch::outer(i.row, i.row)),
           CASE(torch::linalg_matrix_exp(i.square)),
           CASE(i.square.to(torch::kDouble).mm(i.square.to(torch::kDouble))),
       })
    refuse_each(c, 600);
}

TEST(LimitsMemory, Layers) {
  for (const Case& c : {
           CASE(torch::conv2d(i.image, i.weight, i.bias, 1, 1)),
           CASE(torch::conv2d(i.image, i.weight, i.bias, 2)),
           CASE(torch::conv1d(i.line, i.kernel)),
           CASE(torch::conv_transpose2d(i.image, i.weight)),
           CASE(torch::conv2d(i.image.to(torch::kHalf), i.weight.to(torch::kHalf))),
           CASE(torch::max_pool2d(torch::conv2d(i.image, i.weight), 2)),
           CASE(torch::avg_pool2d(i.image, 2)),
           CASE(torch::adaptive_avg_pool2d(i.image, {3, 3})),
           CASE(torch::max_pool3d(i.volume, 2)),
           CASE(torch::upsample_bilinear2d(i.image, {9, 9}, false)),
           CASE(torch::upsample_nearest2d(i.image, {12, 12})),
           CASE(torch::batch_norm(i.image, i.bias, i.bias, {}, {}, true, 0.1, 1e-5, false)),
           CASE(torch::layer_norm(i.x, {6}, i.row, i.row)),
           CASE(torch::group_norm(i.image, 2, i.bias, i.bias)),
           CASE(torch::softmax(i.x, 1)),
           CASE(torch::log_softmax(i.x, 0)),
           CASE(F::cross_entropy(i.x, i.labels)),
           CASE(F::nll_loss(torch::log_softmax(i.x, 1), i.labels)),
           CASE(F::mse_loss(i.x, i.y)),
           CASE(F::smooth_l1_loss(i.x, i.y)),
           CASE(F::binary_cross_entropy_with_logits(i.x, i.positive.detach())),
           CASE(torch::dropout(i.x, 0.5, true)),
           CASE(torch::scaled_dot_product_attention(i.batch, i.batch, i.batch)),
           CASE(torch::grid_sampler(i.image, torch::zeros({2, 3, 3, 2}), 0, 0, false)),
           CASE(torch::bernoulli(i.positive.detach() * 0.5)),
           CASE(torch::multinomial(i.positive.detach(), 2).to(torch::kFloat)),
           CASE(torch::randperm(20).to(torch::kFloat)),
       })
    refuse_each(c, 800);
}

TEST(LimitsMemory, Training) {
  refuse_each({"recurrent layer",
               [](const Inputs& i) {
                 torch::manual_seed(3);
                 torch::nn::LSTM lstm(torch::nn::LSTMOptions(5, 4).num_layers(2));
                 return std::get<0>(lstm(i.batch));
               }},
              1500);
  refuse_each({"step of Adam",
               [](const Inputs& i) {
                 torch::manual_seed(3);
                 torch::nn::Linear layer(6, 3);
                 torch::optim::Adam adam(layer->parameters(), 1e-2);
                 layer(i.x.detach()).sum().backward();
                 adam.step();
                 return layer->weight.detach().clone();
               }},
              400);
}

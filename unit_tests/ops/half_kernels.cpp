// Functions of half tensors that are computed in float and rounded once: whole runs of a conversion, several of them
// and a rest.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <limits>

using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

const std::vector<int64_t> kLengths{1, 7, 64, 513, 1030};

struct Case {
  const char* name;
  std::function<Tensor(const Tensor&)> function;  // of a matrix
  bool exact_gradient = true;                     // not through a result that was kept, rounded, for it
};

// Exact in either type, as the numbers of all operands are.
Tensor ramp(const Tensor& x) {
  return ((torch::arange(x.size(1)) % 8).to(torch::kFloat) / 8 + 0.5).to(x.scalar_type());
}
Tensor other(const Tensor& x) { return x.detach().flip(0) + 0.25; }
Tensor image(const Tensor& x) { return x.unsqueeze(0).unsqueeze(2); }  // (1, rows, 1, columns)
Tensor channels_last(const Tensor& x) { return image(x.t()).contiguous(torch::MemoryFormat::ChannelsLast); }

const std::vector<Case> kCases{
    {"softmax", [](const Tensor& x) { return torch::softmax(x, 1); }, false},
    {"softmax of columns", [](const Tensor& x) { return torch::softmax(x, 0); }, false},
    {"log_softmax", [](const Tensor& x) { return torch::log_softmax(x, 1); }, false},
    {"log_softmax of columns", [](const Tensor& x) { return torch::log_softmax(x, 0); }, false},
    {"layer_norm", [](const Tensor& x) { return torch::layer_norm(x, {x.size(1)}, ramp(x), ramp(x)); }},
    {"rms_norm", [](const Tensor& x) { return torch::rms_norm(x, {x.size(1)}, ramp(x), 1e-5); }},
    {"batch_norm of columns",
     [](const Tensor& x) { return F::batch_norm(x, {}, {}, F::BatchNormFuncOptions().training(true)); }},
    {"batch_norm of planes",
     [](const Tensor& x) {
       return F::batch_norm(image(torch::cat({x, x.detach()}, 1)), {}, {}, F::BatchNormFuncOptions().training(true));
     }},
    {"max_pool",
     [](const Tensor& x) {
       return torch::max_pool2d(channels_last(x), {1, 3}, {1, 2}, {0, 1});
     }},
    {"avg_pool",
     [](const Tensor& x) {
       return torch::avg_pool2d(channels_last(x), {1, 3}, {1, 2}, {0, 1});
     }},
    {"mse_loss", [](const Tensor& x) { return torch::mse_loss(x, other(x), torch::Reduction::None); }},
    {"sum of smooth_l1_loss",
     [](const Tensor& x) { return torch::smooth_l1_loss(x, other(x), torch::Reduction::Sum); }},
    {"cross_entropy",
     [](const Tensor& x) { return torch::cross_entropy_loss(x, torch::zeros({x.size(0)}, torch::kLong)); }},
    {"embedding",
     [](const Tensor& x) {
       return torch::embedding(x, torch::tensor({2, 0, 3}, torch::kLong));
     }},
    {"index_add",
     [](const Tensor& x) {
       return torch::index_add(x, 0, torch::tensor({2, 0}, torch::kLong), x.slice(0, 1, 3));
     }},
    {"index_select of columns",
     [](const Tensor& x) { return x.index_select(1, torch::arange(x.size(1) - 1, -1, -1)); }},
    {"matrix times vector", [](const Tensor& x) { return x.mv(ramp(x)); }},
    {"vector times matrix", [](const Tensor& x) { return x.t().mv(x.detach().select(1, 0)); }},
    {"outer", [](const Tensor& x) { return torch::outer(x[0], ramp(x)); }},
    {"max", [](const Tensor& x) { return std::get<0>(x.max(1)); }},
    {"min of columns", [](const Tensor& x) { return std::get<0>(x.min(0)); }},
    {"sort", [](const Tensor& x) { return std::get<0>(x.sort(1, true)); }},
};

// Multiples of 1/16: kept exactly by both types.
Tensor numbers(int64_t columns, torch::Dtype dtype) {
  torch::manual_seed(columns);
  return (torch::randint(-48, 49, {5, columns}, torch::kFloat) / 16).to(dtype);
}

struct Outcome {
  Tensor value, gradient;
};

Outcome evaluate(const Case& c, const Tensor& input) {
  const Tensor x = input.detach().clone().requires_grad_();
  const Tensor y = c.function(x);
  torch::manual_seed(1);
  y.backward((torch::randint(-8, 9, y.sizes(), torch::kFloat) / 8).to(y.scalar_type()));
  return {y.detach(), x.grad()};
}

class HalfKernels : public testing::TestWithParam<torch::Dtype> {
 protected:
  torch::Dtype dtype() const { return GetParam(); }
  double unit() const { return dtype() == torch::kHalf ? 0x1p-10 : 0x1p-7; }
};

}  // namespace

TEST_P(HalfKernels, EqualFloatOnesRoundedOnce) {
  for (const Case& c : kCases) {
    for (const int64_t length : kLengths) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << length << " columns");
      const Tensor x = numbers(length, dtype());
      const Outcome half = evaluate(c, x), wide = evaluate(c, x.to(torch::kFloat));
      EXPECT_EQ(half.value.scalar_type(), dtype());
      EXPECT_TRUE(torch::equal(half.value, wide.value.to(dtype())));
      if (c.exact_gradient) {
        EXPECT_TRUE(torch::equal(half.gradient, wide.gradient.to(dtype())));
      } else {
        const double error = (half.gradient.to(torch::kFloat) - wide.gradient).abs().max().item<double>();
        EXPECT_LE(error, 2 * unit() * std::max(1.0, wide.gradient.abs().max().item<double>()));
      }
    }
  }
}

TEST_P(HalfKernels, PlacesAreThoseOfFloat) {
  for (const int64_t length : kLengths) {
    Tensor x = numbers(length, dtype());
    x[3][length / 2] = std::numeric_limits<double>::quiet_NaN();
    const Tensor wide = x.to(torch::kFloat);
    for (const int64_t dim : {0, 1}) {
      EXPECT_TRUE(torch::equal(x.argmax(dim), wide.argmax(dim))) << length << " columns, dimension " << dim;
      EXPECT_TRUE(torch::equal(x.argmin(dim), wide.argmin(dim))) << length << " columns, dimension " << dim;
      EXPECT_TRUE(torch::equal(x.argsort(dim), wide.argsort(dim))) << length << " columns, dimension " << dim;
    }
    EXPECT_TRUE(torch::equal(std::get<1>(x.topk(1, 1)), std::get<1>(wide.topk(1, 1)))) << length;
    EXPECT_TRUE(torch::equal(std::get<1>(x.kthvalue(1, 1)), std::get<1>(wide.kthvalue(1, 1)))) << length;
  }
}

TEST_P(HalfKernels, ConvertsToAndFromEveryType) {
  for (const int64_t length : kLengths) {
    const Tensor x = numbers(length, dtype()), wide = x.to(torch::kFloat);
    for (const auto type :
         {torch::kDouble, torch::kLong, torch::kInt, torch::kChar, torch::kBool, torch::kHalf, torch::kBFloat16}) {
      EXPECT_TRUE(torch::equal(x.to(type), wide.to(type))) << type << ", " << length;
      EXPECT_TRUE(torch::equal(x.to(type).to(dtype()), wide.to(type).to(torch::kFloat).to(dtype()))) << type;
    }
    EXPECT_TRUE(torch::equal(torch::full({length}, 1.5, dtype()).to(torch::kFloat), torch::full({length}, 1.5)));
  }
}

// Running sums are carried in float, as LibTorch carries them.
TEST_P(HalfKernels, RunningSumsRoundEachValueOnce) {
  for (const int64_t length : kLengths) {
    const Tensor x = numbers(length, dtype());
    EXPECT_TRUE(torch::equal(x.cumsum(1), x.to(torch::kFloat).cumsum(1).to(dtype()))) << length;
    EXPECT_TRUE(torch::equal(x.cumsum(0), x.to(torch::kFloat).cumsum(0).to(dtype()))) << length;
  }
}

TEST_P(HalfKernels, DropoutKeepsTheValuesThatItKeepsInFloat) {
  for (const int64_t length : kLengths) {
    const Tensor ones = torch::ones({5, length}, dtype());
    torch::manual_seed(3);
    const Tensor half = torch::dropout(ones, 0.25, true);
    torch::manual_seed(3);
    EXPECT_TRUE(torch::equal(half, torch::dropout(ones.to(torch::kFloat), 0.25, true).to(dtype()))) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, HalfKernels, testing::Values(torch::kHalf, torch::kBFloat16));

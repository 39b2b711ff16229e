// The sweep: a table of functions, each timed at three sizes and in several dtypes, forward and backward. One source,
// built with LibTorch and with Halfbridge. A function is one line in one of the *_rows.cpp.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sweep {

using torch::Tensor;
using In = std::vector<Tensor>;

/// Makes an input for size `n`; most have n * n elements. n is 32, 256 or 1024, on a GPU 256 or 4,096.
using Input = Tensor (*)(int64_t n, torch::Dtype dtype);

struct Row {
  const char* name;
  std::vector<torch::Dtype> dtypes;
  std::vector<Input> inputs;      // those of a floating dtype also get gradients, where the result has one
  Tensor (*function)(const In&);  // its last result, where it has several
  int64_t largest = 4096;         // the largest n that it is timed at
};

/// A row's function: an expression of the inputs x[0], x[1], …
#define HB_SWEEP(...) [](const sweep::In& x) -> sweep::Tensor { return __VA_ARGS__; }

inline const std::vector<torch::Dtype> kFloats{torch::kFloat, torch::kBFloat16, torch::kDouble};
inline const std::vector<torch::Dtype> kNumbers{torch::kFloat, torch::kBFloat16, torch::kDouble, torch::kLong};
inline const std::vector<torch::Dtype> kWide{torch::kFloat, torch::kDouble};  // what has no half form
inline const std::vector<torch::Dtype> kReals{torch::kFloat, torch::kDouble, torch::kLong};
inline const std::vector<torch::Dtype> kF32{torch::kFloat};
inline const std::vector<torch::Dtype> kInt64{torch::kLong};

// ---- inputs ----
extern torch::Device device;  // all of them lie there
torch::TensorOptions on_device(torch::Dtype dtype);
Tensor any(std::vector<int64_t> shape, torch::Dtype dtype);  // randn; of integers -9 to 9
Tensor below(int64_t end, std::vector<int64_t> shape);       // int64 in [0, end)
Tensor grid(int64_t n, torch::Dtype dtype);                  // (n, n)
Tensor positive(int64_t n, torch::Dtype dtype);              // (n, n), in [0.1, 0.9] or 1 to 9
Tensor near_one(int64_t n, torch::Dtype dtype);              // (n, n), in [0.92, 1.08] or 1 to 9
Tensor flat(int64_t n, torch::Dtype dtype);                  // (n * n)
Tensor row(int64_t n, torch::Dtype dtype);                   // (n)
Tensor column(int64_t n, torch::Dtype dtype);                // (n, 1)
Tensor number(int64_t n, torch::Dtype dtype);                // ()
Tensor transposed(int64_t n, torch::Dtype dtype);            // (n, n), its columns lie together
Tensor mask(int64_t n, torch::Dtype dtype);                  // (n, n) of bool, half of them true
Tensor places(int64_t n, torch::Dtype dtype);                // (n, n) of int64 below n
Tensor indices(int64_t n, torch::Dtype dtype);               // (n) of int64 below n
Tensor images(int64_t n, torch::Dtype dtype);                // (n / 16, 16, 4, 4) to (n / 16, 16, 32, 32)
Tensor half_grid(int64_t n, torch::Dtype dtype);             // (n / 2, n / 2)
Tensor stack_of_medium(int64_t n, torch::Dtype dtype);       // (n / 8, 32, 32)
Tensor sequence(int64_t n, torch::Dtype dtype);              // (8, n / 8, 64)

std::vector<Row> pointwise_rows();
std::vector<Row> reduction_rows();
std::vector<Row> shape_rows();
std::vector<Row> product_rows();
std::vector<Row> layer_rows();
std::vector<Row> other_rows();
std::vector<Row> special_rows();
std::vector<Row> rare_rows();
std::vector<Row> out_rows();

/// The families by name.
std::vector<std::pair<std::string, std::vector<Row>>> families();

}  // namespace sweep

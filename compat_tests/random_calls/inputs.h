#pragma once
// Random arguments, the same in both builds: they depend on a seed alone, not on a library's generator.
#include <torch/torch.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace random_calls {

using torch::Tensor;
using Shape = std::vector<int64_t>;

inline Shape joined(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A text as numbers, to be shown.
inline Tensor characters(const std::string& text) {
  return torch::tensor(std::vector<int64_t>(text.begin(), text.end()));
}

/// Numbers that a call takes beside its operands. A dimension is one of the first operand's more often than not.
struct Parameters {
  int64_t dim, other_dim;
  int64_t any;    // -3 to 3
  int64_t count;  // 0 to 3
  double norm;    // 0 to 3
  bool keepdim, flag;
};

struct Arguments {
  Tensor x, y;
  Parameters p;
};

/// What one call draws. It remembers what was drawn, to be shown, and the tensors whose gradients are wanted.
class Inputs {
 public:
  explicit Inputs(uint64_t seed);

  /// From low to high, both included. The distributions of <random> differ from one standard library to the next.
  int64_t between(int64_t low, int64_t high);
  bool one_of(int64_t n) { return drawn(1, n) == 1; }
  bool coin() { return between(0, 1) == 1; }
  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[between(0, static_cast<int64_t>(choices.size()) - 1)];
  }
  Shape numbers(int64_t n, int64_t low, int64_t high);
  /// As between(), but of a large call up to 16 times as many.
  int64_t size(int64_t low, int64_t high);
  Shape sizes(int64_t n, int64_t low, int64_t high);

  /// One or two operands of any dtype, shape and layout.
  Arguments any(int operands);
  /// A tensor of `dtype` that may want a gradient, in any layout.
  Tensor tensor(const Shape& shape);
  /// The same between 0.01 and 0.99.
  Tensor fractions(const Shape& shape);
  /// Integers from low to high.
  Tensor integers(const Shape& shape, int64_t low, int64_t high);
  Tensor mask(const Shape& shape);
  /// The same tensor as a leaf that wants a gradient, if it can have one.
  Tensor leaf(const Tensor& t);
  /// Its gradient is to be shown, too.
  void watch(const Tensor& t) { leaves_.push_back(t); }

  torch::ScalarType dtype;  // of tensor(): f32, f64 or, now and then, half precision
  bool repeats = true;      // tensor() may give one whose first dimension repeats itself, which makes singular matrices
  bool second_gradients;    // whether the gradients' own are shown, too
  bool autocast;            // whether the call is made with it, in bfloat16
  bool large;               // sizes are those of blocks and threads
  bool wild;                // NaN, infinities and the ends of a dtype are among the numbers
  /// f32 or f64 from here on: for what has no half precision.
  void full_precision();

  /// A word for the description.
  void note(const std::string& word) { description_ += ' ' + word; }

  const std::vector<Tensor>& leaves() const { return leaves_; }
  const std::string& description() const { return description_; }

 private:
  int64_t drawn(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % (high - low + 1)); }
  torch::ScalarType any_dtype();
  Shape any_shape();
  Shape large_shape();
  double wild_value();
  Shape second_shape(const Shape& first);
  std::vector<double> values(int64_t n);
  Tensor integers_of(const Shape& shape, torch::ScalarType dtype);
  Tensor filled(const Shape& shape, torch::ScalarType dtype);
  Tensor laid_out(const Tensor& t);
  Parameters parameters(int64_t dims);
  void describe(const Tensor& t);

  std::mt19937_64 engine_;
  std::vector<Tensor> leaves_;
  std::string description_;
};

}  // namespace random_calls

// The parity cases' own API: 'one source, two builds'. A case file includes only this header and is written
// against torch:: alone; it is compiled once with LibTorch and once with Halfbridge, and each build writes
// what the case records to a safetensors file. See compat_tests/README.md.
#pragma once
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

namespace parity {

using torch::Tensor;
using Dtype = torch::Dtype;
using Shape = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;
using Dtypes = std::vector<Dtype>;

inline const Dtypes kFloats{torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16};
inline const Dtypes kInts{torch::kLong, torch::kInt, torch::kShort, torch::kChar, torch::kByte};
inline const Dtypes kAll{torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong,
                         torch::kInt,   torch::kShort,  torch::kChar, torch::kByte,     torch::kBool};

std::string dtype_name(Dtype dtype);  // f32 f64 f16 bf16 i64 i32 i16 i8 u8 bool
bool is_float(Dtype dtype);

// What one case is given (`c`): inputs that do not depend on the library's generator, and the calls that
// record.
class Case {
 public:
  explicit Case(std::string full_name);

  // ---- inputs: the same numbers in both builds, drawn from a generator seeded with the case's name ----
  Tensor rand(Shape shape, Dtype dtype = torch::kFloat, double low = 0, double high = 1);
  Tensor randn(Shape shape, Dtype dtype = torch::kFloat);
  Tensor randint(int64_t low, int64_t high, Shape shape, Dtype dtype = torch::kLong);  // [low, high)
  Tensor bools(Shape shape);
  Tensor arange(Shape shape, Dtype dtype = torch::kFloat);                 // 0, 1, 2, ... in the given shape
  Tensor values(std::vector<double> values, Dtype dtype = torch::kFloat);  // 1-d, written out
  Tensor special(Dtype dtype = torch::kFloat);  // 1-d: NaN, infinities, zeros of both signs, subnormal, largest
  // randn for float dtypes, small integers for integers, true/false for bool.
  Tensor any(Shape shape, Dtype dtype);
  // A randn (or uniform in [low, high)) that requires grad.
  Tensor leaf(Shape shape, Dtype dtype = torch::kFloat);
  Tensor leaf_in(double low, double high, Shape shape, Dtype dtype = torch::kFloat);

  // ---- recording ----
  void out(const std::string& name, const Tensor& tensor);  // values, dtype and shape
  void layout(const std::string& name,
              const Tensor& tensor);                            // sizes, strides, offset, dtype; compared exactly
  void text(const std::string& name, const std::string& text);  // compared exactly
  void printed(const std::string& name, const Tensor& tensor);  // what operator<< prints
  void value(const std::string& name, double number);
  void value(const std::string& name, int64_t number);
  void value(const std::string& name, bool flag);
  void value(const std::string& name, int number) { value(name, static_cast<int64_t>(number)); }
  // Gradients of `inputs` (which require grad), the output weighted with a fixed pattern.
  void backward(const std::string& name, const Tensor& output, const Tensors& inputs);
  // The result of `fn` and the gradients of `inputs`.
  void gradients(const std::string& name, const Tensors& inputs, const std::function<Tensor()>& fn);
  // Both builds must throw; where LibTorch throws a c10::Error, Halfbridge must as well. Messages are not
  // compared.
  void throws(const std::string& name, const std::function<void()>& fn);

  // ---- checks made within each build ----
  // Gradients of `fn` against central differences. `inputs`: contiguous kDouble tensors that require grad,
  // read by `fn`.
  void gradcheck(const std::function<Tensor()>& fn, const Tensors& inputs);
  void gradgradcheck(const std::function<Tensor()>& fn, const Tensors& inputs);
  void check(bool ok, const std::string& what);
  void fail(const std::string& what);

  // ---- tolerance of what is recorded from here on (the table in compare/tolerance.cpp gives the defaults)
  // ----
  void tolerance(double rtol, double atol);               // f32 and f64
  void tolerance(Dtype dtype, double rtol, double atol);  // one dtype
  // For results that depend on a generator or on memory that is not defined: dtype and shape are compared,
  // values not.
  void shape_only(const std::string& name, const Tensor& tensor);

  // ---- sweeps: everything recorded inside is named after the step, and a step that throws does not end the
  // others ----
  void scope(const std::string& label, const std::function<void()>& body);
  template <typename F>
  void for_dtypes(const Dtypes& dtypes, F body) {
    for (Dtype dtype : dtypes) scope(parity::dtype_name(dtype), [&] { body(dtype); });
  }
  // body(x) with x of this shape and the same values, laid out contiguous, transposed, strided, offset; and
  // `expanded`, whose values repeat along the first dimension. x does not require grad; x.requires_grad_()
  // makes it a leaf.
  void for_layouts(Shape shape, Dtype dtype, const std::function<void(Tensor)>& body);
  void for_layouts_of(const Tensor& contiguous, const std::function<void(Tensor)>& body);
  // An element-wise float function: every float dtype, layouts, 0-d, zero-sized, special values, gradients,
  // gradcheck. Inputs are drawn from [low, high), where fn must be smooth for the finite differences to hold.
  void unary(const std::function<Tensor(const Tensor&)>& fn, double low = -2, double high = 2,
             const Dtypes& dtypes = kFloats);
  // The same for two operands, with broadcasting; the second is drawn from [low, high).
  void binary(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, double low = -2, double high = 2,
              const Dtypes& dtypes = kFloats);

  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Tolerance {
    Dtype dtype;
    double rtol, atol;
  };

  std::string full(const std::string& name) const;
  void seed();
  double uniform();
  Tensor make(const std::vector<double>& values, const Shape& shape, Dtype dtype);
  void record(const std::string& name, const Tensor& tensor);
  void record_value(const std::string& name, const char* dtype, const void* data, size_t bytes);
  void check_gradients(const std::string& what, const std::function<Tensors()>& fn, const Tensors& inputs);

  std::string name_, scope_;
  uint64_t state_;
  std::vector<Tolerance> tolerances_;
  std::vector<std::string> failures_;
};

struct Registration {
  Registration(const char* file, const char* family, const char* name, void (*body)(Case&));
};

}  // namespace parity

// PARITY_CASE(family, name) { ... c ... }: `family` is the file's name without _cases.cpp.
#define PARITY_CASE(family, name)                                                                    \
  static void parity_##family##_##name(parity::Case& c);                                             \
  static const parity::Registration parity_registration_##family##_##name(__FILE__, #family, #name,  \
                                                                          parity_##family##_##name); \
  static void parity_##family##_##name([[maybe_unused]] parity::Case& c)

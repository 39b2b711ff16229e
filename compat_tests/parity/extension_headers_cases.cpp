// Headers that copies of LibTorch's own kernels include: signatures, DLPack, small arithmetic, threads.
#include <ATen/DLConvertor.h>
#include <ATen/InferSize.h>
#include <ATen/NumericUtils.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <ATen/ceil_div.h>
#include <ATen/core/MT19937RNGEngine.h>
#include <ATen/div_rtn.h>
#include <c10/core/thread_pool.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/TypeTraits.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/nested.h>
#include <torch/nn/pimpl-inl.h>
#include <torch/sparse.h>

#include <atomic>
#include <functional>
#include <limits>
#include <sstream>
#include <thread>

#include "parity/case.h"

namespace {
template <class... Args>
std::string text_of(const Args&... args) {
  std::ostringstream out;
  ((out << args << ' '), ...);
  return out.str();
}

using Plain = float(int, const torch::Tensor&);

// As dispatchers of extensions do: the numbers of a functor's arguments choose the loop.
template <class F>
size_t arguments_of(const F&) {
  using traits = c10::guts::infer_function_traits_t<F>;
  static_assert(std::is_same_v<typename traits::return_type, double>, "");
  return traits::number_of_parameters;
}
}  // namespace

PARITY_CASE(extension_headers, signatures) {
  using of_plain = c10::guts::function_traits<Plain>;
  using parameters = of_plain::parameter_types;
  static_assert(std::is_same_v<of_plain::return_type, float>, "");
  static_assert(std::is_same_v<c10::guts::typelist::head_t<parameters>, int>, "");
  static_assert(std::is_same_v<c10::guts::typelist::to_tuple_t<parameters>, std::tuple<int, const torch::Tensor&>>, "");
  const auto lambda = [](double a, int b, char) { return a + b; };
  c.value("lambda", int64_t(arguments_of(lambda)));
  c.value("size", int64_t(c10::guts::typelist::size<parameters>::value));
  c.text("kinds", text_of(c10::guts::is_functor<decltype(lambda)>::value, c10::guts::is_functor<int>::value,
                          c10::guts::is_function_type<Plain>::value));
}

PARITY_CASE(extension_headers, dlpack) {
  const auto x = c.arange({2, 3}, torch::kFloat);
  DLManagedTensor* managed = at::toDLPack(x.t());
  const DLTensor& seen = managed->dl_tensor;
  c.text("layout", text_of(seen.ndim, seen.shape[0], seen.shape[1], seen.strides[0], seen.strides[1], seen.byte_offset,
                           int(seen.dtype.code), int(seen.dtype.bits), seen.dtype.lanes));
  const torch::Tensor back = at::fromDLPack(managed);
  c.layout("back", back);
  c.check(back.data_ptr() == x.data_ptr(), "DLPack does not copy");

  bool deleted = false;
  DLManagedTensor* other = at::toDLPack(x.slice(1, 1));
  {
    const torch::Tensor borrowed = at::fromDLPack(other, [&](void* source) {
      deleted = source != nullptr;
      other->deleter(other);
    });
    c.out("borrowed", borrowed + 1);
    c.check(!deleted, "the deleter waits for the tensor");
  }
  c.check(deleted, "the deleter of the program is called");
  std::string dtypes;
  for (const auto dtype : {torch::kByte, torch::kChar, torch::kLong, torch::kHalf, torch::kBFloat16, torch::kDouble,
                           torch::kBool, torch::kComplexFloat}) {
    const DLDataType code = at::getDLDataType(torch::zeros({1}, dtype));
    dtypes += text_of(int(code.code), int(code.bits), at::toScalarType(code) == dtype);
  }
  c.text("dtypes", dtypes);
  c.throws("lanes", [] { at::toScalarType(DLDataType{kDLFloat, 32, 4}); });
}

PARITY_CASE(extension_headers, dlpack_versioned) {
  const auto x = c.arange({2, 3}, torch::kDouble);
  DLManagedTensorVersioned* managed = at::toDLPackVersioned(x.t());
  const DLTensor& seen = managed->dl_tensor;
  c.text("layout", text_of(managed->version.major, managed->flags, seen.ndim, seen.shape[0], seen.strides[0],
                           seen.strides[1], int(seen.dtype.code), int(seen.dtype.bits)));
  const torch::Tensor back = at::fromDLPackVersioned(managed);
  c.layout("back", back);
  c.check(back.data_ptr() == x.data_ptr(), "no copy");
  bool deleted = false;
  DLManagedTensorVersioned* other = at::toDLPackVersioned(x.slice(1, 1));
  {
    const torch::Tensor borrowed = at::fromDLPackVersioned(other, [&](void* source) {
      deleted = source == x.slice(1, 1).data_ptr();
      other->deleter(other);
    });
    c.out("borrowed", borrowed + 1);
    c.check(!deleted, "the deleter waits for the tensor");
  }
  c.check(deleted, "the deleter of the program is called");
}

PARITY_CASE(extension_headers, numbers) {
  c.text("sizes", text_of(at::IntArrayRef(at::infer_size({-1, 2}, 6)), at::IntArrayRef(at::infer_size_dv({3, -1}, 3))));
  c.throws("no_size", [] { at::infer_size({-1, 4}, 6); });
  c.text("divisions",
         text_of(at::ceil_div(7, 2), at::ceil_div<int64_t>(8, 2), at::round_up(9, 4), div_rtn(-7, 2), div_rtn(7, 2)));
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  c.text("special", text_of(at::_isnan(nan), at::_isnan(1), at::_isnan(c10::Half(nan)), at::_isnan(c10::BFloat16(1.f)),
                            at::_isinf(inf), at::_isinf(c10::Half(70000.f)), at::_isnan(c10::complex<float>(0, nan))));
  at::mt19937 engine(17);
  std::string drawn;
  for (int i = 0; i < 700; ++i) {
    const uint32_t number = engine();
    if (i % 100 == 0) drawn += text_of(number);
  }
  c.text("drawn", drawn + text_of(engine.seed(), engine.is_valid()));
}

// Kernels' own names for functions, and helpers that take the base class of Tensor.
PARITY_CASE(extension_headers, names_of_kernels) {
  const auto x = c.leaf({2, 3, 5, 6}, torch::kDouble), w = c.leaf({4, 3, 2, 3}, torch::kDouble);
  const auto wt = c.leaf({3, 4, 2, 3}, torch::kDouble), b = c.leaf({4}, torch::kDouble);
  const auto grid = c.leaf_in(-0.9, 0.9, {2, 4, 4, 2}, torch::kDouble);
  c.gradients("grid", {x, grid}, [&] { return at::grid_sampler_2d(x, grid, 0, 1, false); });
  c.gradients("thnn", {x, w, b}, [&] { return at::thnn_conv2d(x, w, {2, 3}, b, {2, 1}, {1, 0}); });
  c.out("plain", at::thnn_conv2d(x, w, {2, 3}, {}, {1, 1}, {0, 0}));
  c.gradients("dilated", {x, w}, [&] { return at::slow_conv_dilated2d(x, w, {2, 3}, {}, {1, 1}, {1, 1}, {2, 1}); });
  c.out("transposed", at::slow_conv_transpose2d(x, wt, {2, 3}, b, {2, 2}, {1, 1}, {1, 0}, {1, 1}));
  const auto v = c.randn({1, 2, 4, 4, 4}, torch::kDouble), k = c.randn({3, 2, 2, 2, 2}, torch::kDouble);
  c.out("conv3d", at::slow_conv3d(v, k, {2, 2, 2}, {}, {1, 1, 1}, {1, 1, 1}));
  c.out("dilated3d", at::slow_conv_dilated3d(v, k, {2, 2, 2}, {}, {1, 1, 1}, {1, 1, 1}, {2, 2, 2}));
  const auto sequence = c.leaf({7, 2, 3}, torch::kDouble), taps = c.leaf({3, 3, 4}, torch::kDouble);
  c.gradients("tbc", {sequence, taps, b}, [&] { return at::conv_tbc(sequence, taps, b, 1); });
  c.layout("tbc_layout", at::conv_tbc(sequence, taps, b).detach());
  const auto places = at::nonzero_numpy(torch::tensor({{0, 1}, {2, 0}}));
  c.out("rows", places[0]), c.out("columns", places[1]);
  c.out("renormed", at::embedding_renorm(c.randn({4, 3}) * 5, torch::tensor({1, 3}), 1.0, 2.0));
  c.throws("kernel", [&] { at::thnn_conv2d(x.detach(), w.detach(), {3, 3}); });
  c.throws("grid_dims", [&] { at::grid_sampler_2d(v, grid, 0, 0, false); });
  const auto elements = [](const at::TensorBase& t) { return t.numel() * t.dim(); };
  c.value("base", elements(v));
}

PARITY_CASE(extension_headers, thread_pool) {
  std::atomic<int> sum{0}, inside{0};
  c10::ThreadPool pool(3);
  for (int i = 1; i <= 100; ++i)
    pool.run([&, i] {
      sum += i;
      inside += pool.inThreadPool();
    });
  pool.waitWorkComplete();
  c.text("done", text_of(sum, inside, pool.size(), pool.numAvailable(), pool.inThreadPool()));
}

PARITY_CASE(extension_headers, modes_of_threads) {
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto on_thread = [](const std::function<std::string()>& f) {
    std::string text;
    std::thread([&] { text = f(); }).join();
    return text;
  };
  const auto modes = [&] {
    return text_of((x * 2).requires_grad(), c10::InferenceMode::is_enabled(),
                   at::autocast::is_autocast_enabled(torch::kCPU));
  };
  {
    const torch::NoGradGuard no_grad;
    at::autocast::set_autocast_enabled(torch::kCPU, true);
    const at::ThreadLocalState state;
    const auto wrapped = at::wrapPropagateTLSState(modes);
    at::autocast::set_autocast_enabled(torch::kCPU, false);
    c.text("fresh", on_thread(modes));
    c.text("wrapped", on_thread(wrapped));
    c.text("guarded", on_thread([&] {
             std::string text;
             {
               const at::ThreadLocalStateGuard guard(state);
               text = modes();
             }
             return text + modes();
           }));
  }
  const c10::InferenceMode inference;
  c.text("inference", on_thread(at::wrapPropagateTLSState(modes)));
}

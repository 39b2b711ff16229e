// What kernels of LibTorch extensions take from c10 and ATen: containers, broadcasting, checks of arguments.
#include <ATen/ExpandUtils.h>
#include <ATen/TensorUtils.h>
#include <c10/core/SymInt.h>
#include <c10/util/Logging.h>
#include <c10/util/MathConstants.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/SmallVector.h>
#include <c10/util/string_view.h>

#include "parity/case.h"
#include "parity/error_of.h"

namespace {
using parity::error_of;

template <class... Args>
std::string text_of(const Args&... args) {
  std::ostringstream out;
  out << std::boolalpha;
  ((out << args << ' '), ...);
  return out.str();
}
}  // namespace

PARITY_CASE(extension_helpers, small_vector) {
  c10::SmallVector<int64_t, 4> v;
  for (int64_t i = 0; i < 6; ++i) v.push_back(i * i);
  v.insert(v.begin() + 1, 77);
  v.erase(v.begin());
  v.append({5, 6});
  v.append(2, -1);
  c.text("built", text_of(v, v.size(), v.front(), v.back(), at::IntArrayRef(v)));
  c10::SmallVector<int64_t, 4> copy = v, moved = std::move(v);
  c.text("copied", text_of(copy == moved, copy, v.empty()));
  copy.resize(3);
  copy.resize(5, 9);
  c.text("resized", text_of(copy, copy.pop_back_val(), copy < moved));
  c10::SmallVector<std::string, 2> words{"a", "b"}, one{"zz"};
  words.emplace_back(3, 'c');
  words.push_back(words[0]);
  words.swap(one);
  c.text("swapped", text_of(words, one));
  c10::SmallVectorImpl<std::string>& base = words;
  base.assign(3, "q");
  base.insert(base.begin(), one.begin(), one.end());
  c.text("base", text_of(words));
  c10::SmallVector<torch::Tensor, 1> tensors;
  for (int i = 0; i < 3; ++i) tensors.push_back(torch::full({2}, i));
  c.out("tensors", torch::cat(tensors));
  c.text("dim_vector", text_of(at::IntArrayRef(at::DimVector{1, 2, 3})));
}

PARITY_CASE(extension_helpers, maybe_owned) {
  const auto t = torch::ones({2});
  auto borrowed = c10::MaybeOwned<torch::Tensor>::borrowed(t);
  auto owned = c10::MaybeOwned<torch::Tensor>::owned(torch::zeros({3}));
  c.text("kinds", text_of(borrowed.unsafeIsBorrowed(), owned.unsafeIsBorrowed(), t.use_count(), owned->sizes()));
  c.out("moved", *std::move(owned));
  borrowed = c10::MaybeOwned<torch::Tensor>::owned(torch::ones({4}));
  c.out("assigned", *borrowed);
}

PARITY_CASE(extension_helpers, broadcasting) {
  c.text("sizes",
         text_of(at::IntArrayRef(at::infer_size({2, 1, 3}, {4, 1})), at::are_expandable({2, 3}, {3}),
                 at::are_expandable({2, 3}, {2}), at::is_expandable_to(at::IntArrayRef{1, 3}, at::IntArrayRef{2, 3}),
                 at::is_expandable_to(at::IntArrayRef{2, 3}, at::IntArrayRef{3})));
  c.text("no_size", error_of([] { at::infer_size({2, 3}, {2}); }));
  const auto a = torch::ones({2, 1}), b = c.randn({3}), both = torch::ones({2, 3});
  const auto [wide_a, wide_b] = at::expand_outplace(a, b);
  c.out("wide_a", *wide_a), c.out("wide_b", *wide_b);
  c.out("inplace", *at::expand_inplace(both, b));
  const auto [same, wide] = at::expand_outplace(both, b, "mine");
  c.text("named", text_of(same->sizes(), wide->sizes()));
  c.out("size", *at::expand_size(a, {2, 5}));
  const auto list = at::expand_outplace({a, torch::Tensor(), b});
  c.text("list", text_of(list[0].sizes(), list[1].defined(), list[2].sizes()));
  const torch::Tensor undefined;
  c.text("undefined", error_of([&] { at::expand_outplace(a, undefined, "mine"); }));
  const auto [sizes, strides] = at::inferExpandGeometry({2, 1}, {1, 1}, {4, -1, 3});
  c.text("geometry", text_of(at::IntArrayRef(sizes), at::IntArrayRef(strides)));
}

PARITY_CASE(extension_helpers, argument_checks) {
  const auto a = torch::ones({2, 3}), b = torch::ones({3, 2}).t(), i = torch::ones({2, 3}, torch::kInt),
             x = torch::ones({1});
  const torch::Tensor undefined;
  const at::TensorArg ta{a, "a", 1}, tb{b, "b", 2}, ti{i, "i", 0}, tx{x, "x", 3}, tu{undefined, "u", 4};
  const char* f = "my_op";
  const auto check = [&](const char* name, const std::function<void()>& of) { c.text(name, error_of(of)); };
  check("dim", [&] { at::checkDim(f, ta, 3); });
  check("dim_of_tensor", [&] { at::checkDim(f, a, "a", 1, 1); });
  check("dim_range", [&] { at::checkDimRange(f, tb, 3, 5); });
  check("same_dim", [&] { at::checkSameDim(f, ta, tx); });
  check("contiguous", [&] { at::checkContiguous(f, tb); });
  check("all_contiguous", [&] { at::checkAllContiguous(f, {ta, tu, tb}); });
  check("size", [&] { at::checkSize(f, ta, {2, 4}); });
  check("size_of_dim", [&] { at::checkSize(f, ta, 1, 7); });
  check("numel", [&] { at::checkNumel(f, ta, 9); });
  check("same_numel", [&] { at::checkSameNumel(f, ta, tx); });
  check("scalar_type", [&] { at::checkScalarType(f, ti, torch::kFloat); });
  check("scalar_types", [&] { at::checkScalarTypes(f, ti, {torch::kFloat, torch::kDouble}); });
  check("same_type", [&] { at::checkSameType(f, ta, ti); });
  check("same_size", [&] { at::checkSameSize(f, ta, tx); });
  check("all_same_size", [&] { at::checkAllSameSize(f, {ta, tu, tb}); });
  c.throws("defined", [&] { at::checkDefined(f, tu); });
  c.throws("all_defined", [&] { at::checkAllDefined(f, {ta, tu}); });
  check("device", [&] { at::checkDeviceType(f, {a, b}, at::kCUDA); });
  check("gpu", [&] { at::checkSameGPU(f, ta, tb); });
  check("dim_size", [&] { at::check_dim_size(a, 2, 1, 4); });
  check("good", [&] {
    at::checkAllSameType(f, {ta, tb, tu});
    at::checkSize(f, ta, {2, 3});
    at::checkLayout(f, a, at::kStrided);
  });
  c.text("data", text_of(at::maybe_data_ptr(ta) == a.data_ptr(), at::maybe_data_ptr(undefined) == nullptr));
  at::TensorGeometry geometry(b);
  c.text("geometry", text_of(geometry.sizes(), geometry.strides(), geometry.is_contiguous(),
                             geometry.transpose(0, 1).is_contiguous(), geometry.size(-1), geometry.numel()));
}

PARITY_CASE(extension_helpers, dtypes_and_numbers) {
  for (auto t : parity::kAll)
    c.text(parity::dtype_name(t),
           text_of(c10::isSignedType(t), c10::isReducedFloatingType(t), c10::canCast(t, torch::kInt),
                   c10::canCast(torch::kInt, t), c10::canCast(t, torch::kBool)));
  c.text("divup", text_of(at::divup(7, 2), at::divup(8, 2)));
  c.text("strings", text_of(c10::starts_with("weights.pt", "weights"), c10::starts_with("x", "xy"),
                            c10::ends_with("weights.pt", ".pt"), c10::ends_with("pt", ".pt")));
  c.text("constants", text_of(c10::pi<double>, c10::e<float>, c10::sqrt_2<double>, c10::golden_ratio<double>));
}

PARITY_CASE(extension_helpers, logging) {
  LOG(INFO) << "not shown";
  VLOG(2) << "not shown";
  CHECK(c.randn({1}).defined()) << "holds";
  c.text("assert", error_of([] { TORCH_INTERNAL_ASSERT(1 > 2, "words"); }).substr(0, 28));
}

PARITY_CASE(extension_helpers, tensor_literals) {
  c.out("bytes", torch::tensor({uint8_t(255), uint8_t(1)}));
  c.out("chars", torch::tensor({int8_t(-128), int8_t(1)}));
  c.out("byte", torch::tensor(uint8_t(7)));
  c.out("vector_of_bytes", torch::tensor(std::vector<uint8_t>{1, 200}));
  c.out("vector_of_shorts", torch::tensor(std::vector<int16_t>{-1, 300}));
  c.out("vector_of_ints", torch::tensor(std::vector<int>{-1, 300}));
  c.out("mixed_floats", torch::tensor({1.5f, float(2.5)}));
  c.out("float_and_double", torch::tensor({1.5, double(2.5f)}));
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kDouble));
  c.out("float_in_double", torch::tensor({1.5f, 2.5f}));
  c.out("vector_in_double", torch::tensor(std::vector<float>{1.5f, 2.5f}));
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat));
  c.out("double_in_float", torch::tensor(std::vector<double>{1.5, 2.5}));
}

// What older programs ask a tensor for.
PARITY_CASE(extension_helpers, types) {
  const auto x = torch::ones({2, 3}), n = torch::arange(4, torch::kLong), s = torch::eye(3).to_sparse();
  c.text("names", text_of(x.type(), n.type().toString(), s.type(), torch::kHalf, x.type().scalarType()));
  c.text("questions", text_of(x.type() == torch::zeros({1}).type(), x.type() != n.type(), x.type().is_cuda(),
                              s.type().is_sparse(), x.type().backend(), s.type().layout(), x.type().device_type()));
  c.text("same object", text_of(&x.type() == &at::CPU(torch::kFloat), &n.type() == &x.type().toScalarType(at::kLong)));
  c.out("made of", torch::full({2}, 3, n.type()));
  c.out("converted", n.to(x.type()));
  c.out("options", torch::zeros({2}, x.type().options()));
  c.throws("another device", [&] { x.type().options(std::optional<at::Device>(at::Device("cuda:0"))); });
  const c10::SymInt size = 5;
  c.text("sizes",
         text_of(size, size.expect_int() + 1, size.maybe_as_int().value(), size.guard_int(__FILE__, __LINE__)));
}

PARITY_CASE(extension_helpers, kinds_of_errors) {
  const auto caught = [](auto thrown) -> std::string {
    try {
      throw thrown;
    } catch (const c10::OutOfMemoryError& e) {
      return std::string("memory ") + e.what_without_backtrace();
    } catch (const c10::LinAlgError& e) {
      return std::string("matrix ") + e.what_without_backtrace();
    } catch (const c10::Error& e) {
      return std::string("error ") + e.what_without_backtrace();
    }
  };
  const c10::SourceLocation here{__func__, __FILE__, 1};
  c.text("OutOfMemoryError", caught(c10::OutOfMemoryError(here, "full")));
  c.text("LinAlgError", caught(c10::LinAlgError(here, "singular")));
  c.text("BufferError", caught(c10::BufferError(here, "buffer")));
  c.text("SyntaxError", caught(c10::SyntaxError(here, "syntax")));
  c.text("EnforceFiniteError", caught(c10::EnforceFiniteError(here, "finite")));
}

namespace {
// Programs leave out the semicolon after these: they are whole statements.
int checked(int a, int b) {
  TORCH_CHECK(a >= 0, "a is ", a)
  TORCH_CHECK_INDEX(a < 10, "index ", a)
  TORCH_INTERNAL_ASSERT(a != 7)
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(a >= 0);
  if (b > a) TORCH_CHECK_VALUE(b < 50, "b is ", b)
  if (a == 8) TORCH_WARN("a is 8")
  TORCH_CHECK_LE(a, b) << "for programs, " << 1.5;
  a > 4 ? TORCH_CHECK_NE(b, 6) : void();
  return a + b;
}
std::string after_place(const std::string& message) { return message.substr(message.find("Check failed")); }
}  // namespace

PARITY_CASE(extension_helpers, checks_without_semicolon) {
  c.value("passes", checked(2, 3));
  c.text("error", error_of([] { checked(-1, 3); }));
  c.text("value", error_of([] { checked(1, 60); }));
  c.text("streamed", after_place(error_of([] { checked(3, 2); })));
  c.text("expression", after_place(error_of([] { checked(5, 6); }) + "Check failed"));
  c.throws("index", [] { checked(11, 12); });
  c.throws("assert", [] { checked(7, 8); });
}

// What programs get from <torch/torch.h> alone.
#include "parity/bad.h"
#include "parity/case.h"

namespace {

class Counter : public torch::CustomClassHolder {
 public:
  explicit Counter(int64_t start) : count(start) {}
  int64_t add(int64_t n) { return count += n; }
  int64_t count;

 private:
  AT_DISALLOW_COPY_AND_ASSIGN(Counter);
};

TORCH_LIBRARY(parity_torch_header, m) {
  m.class_<Counter>("Counter").def(torch::init<int64_t>()).def("add", &Counter::add);
  m.def("thrice(Tensor x) -> Tensor");
  m.def("shift", [](torch::Tensor x, double by) { return x + by; });
}
TORCH_LIBRARY_IMPL(parity_torch_header, CompositeImplicitAutograd, m) {
  m.impl("thrice", [](const torch::Tensor& x) { return x * 3; });
}
TORCH_LIBRARY_FRAGMENT(parity_torch_header, m) {
  m.def("first(Tensor[] xs) -> Tensor", [](const std::vector<torch::Tensor>& xs) { return xs[0]; });
}

float corner(at::PackedTensorAccessor<float, 2> values) { return values[1][1]; }

}  // namespace

PARITY_CASE(torch_header, operators) {
  auto thrice = c10::Dispatcher::singleton().findSchemaOrThrow("parity_torch_header::thrice", "");
  c.out("thrice", thrice.typed<torch::Tensor(const torch::Tensor&)>().call(c.randn({3})));
  auto shift = c10::Dispatcher::singleton().findSchemaOrThrow("parity_torch_header::shift", "");
  c.out("shift", shift.typed<torch::Tensor(torch::Tensor, double)>().call(c.randn({3}), 0.5));
  c.text("schema", c10::str(shift.schema()));
  auto counter = c10::make_intrusive<Counter>(4);
  c.value("counter", counter->add(3));
}

PARITY_CASE(torch_header, utilities) {
  const std::vector<torch::Tensor> xs{c.randn({2}), c.randn({3})};
  const auto lengths = torch::fmap(xs, [](const torch::Tensor& x) { return x.size(0); });
  c.value("fmap", lengths[0] * 10 + lengths[1]);
  c.value("filter", c10::filter(lengths, [](int64_t n) { return n > 2; })[0]);
  c.value("is_complex", c10::is_complex<c10::complex<float>>::value * 2 + c10::is_complex<double>::value);
  c.value("part", std::is_same_v<c10::scalar_value_type<c10::complex<double>>::type, double>);
  c.value("tensors", torch::is_complex(xs[0].to(torch::kComplexFloat)) + at::is_complex(xs[0]));
  c.value("largest", std::numeric_limits<c10::complex<float>>::max());
  c.value("float8", static_cast<float>(c10::Float8_e4m3fn(1.3f)) + static_cast<float>(c10::Float8_e5m2(1.3f)));
  const auto rows = xs[1].expand({2, 3}).contiguous().cpu();
  c.value("accessor", corner(rows.packed_accessor64<float, 2>()));
}

PARITY_CASE(torch_header, generic_containers) {
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("a", c.randn({2}));
  const torch::IValue value(dict);
  auto typed = c10::impl::toTypedDict<std::string, torch::Tensor>(value.toGenericDict());
  c.out("dict", typed.at("a"));
  typed.insert("b", c.randn({1}));
  c.value("shared", dict.contains("b"));
  c.value("generic", c10::impl::toGenericDict(dict).contains("a"));
  SAYS("Key types mismatch", (c10::impl::toTypedDict<int64_t, torch::Tensor>(value.toGenericDict())));
  SAYS("Value types mismatch", (c10::impl::toTypedDict<std::string, int64_t>(value.toGenericDict())));
  const c10::List<int64_t> list{1, 2, 3};
  c.value("list", c10::impl::toTypedList<int64_t>(c10::impl::toList(list)).get(2));
  SAYS("Types mismatch", c10::impl::toTypedList<double>(c10::impl::toList(list)));
}

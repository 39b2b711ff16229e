// Sums and products into a tensor of the caller's, of any dtype; truth into bytes.
#include "parity/bad.h"

using torch::Tensor;

namespace {

const parity::Dtypes kFrom{torch::kFloat, torch::kInt, torch::kByte, torch::kBool, torch::kHalf, torch::kDouble};
const parity::Dtypes kInto{torch::kFloat, torch::kHalf, torch::kInt,    torch::kLong,
                           torch::kByte,  torch::kBool, torch::kDouble, torch::kComplexFloat};

// What `write(out, in)` leaves in `out`, or the phrase of its error.
template <class Write>
void each(parity::Case& c, const std::string& name, const Write& write) {
  for (const torch::Dtype from : kFrom)
    for (const torch::Dtype into : kInto) {
      const Tensor x = (torch::arange(0, 6).reshape({2, 3}) * 60 + 1).to(from);
      Tensor out = torch::empty({0}, into);
      const std::string row = name + " " + c10::toString(from) + " into " + c10::toString(into);
      try {
        write(out, x);
        c.out(row, out.is_complex() ? torch::view_as_real(out) : out);
      } catch (const std::exception& error) {
        const std::string text = error.what();
        std::string found = "another error: " + text;
        for (const char* phrase : {"Expected out tensor to have dtype", "not implemented for", "could not infer",
                                   "only supports bool tensor for result", "can't be cast to the desired output type"})
          if (text.find(phrase) != std::string::npos) found = phrase;
        c.text(row, found);
      }
    }
}

}  // namespace

PARITY_CASE(out_dtypes, sums) {
  each(c, "sum", [](Tensor& out, const Tensor& x) { torch::sum_out(out, x, torch::IntArrayRef(1)); });
  each(c, "sum asked",
       [](Tensor& out, const Tensor& x) { torch::sum_out(out, x, torch::IntArrayRef(1), false, torch::kFloat); });
  each(c, "nansum", [](Tensor& out, const Tensor& x) { torch::nansum_out(out, x, torch::IntArrayRef(1)); });
  each(c, "mean", [](Tensor& out, const Tensor& x) { torch::mean_out(out, x, torch::IntArrayRef(1)); });
  each(c, "mean asked",
       [](Tensor& out, const Tensor& x) { torch::mean_out(out, x, torch::IntArrayRef(1), false, torch::kFloat); });
}

PARITY_CASE(out_dtypes, products) {
  each(c, "prod", [](Tensor& out, const Tensor& x) { torch::prod_out(out, x, 1); });
  each(c, "prod asked", [](Tensor& out, const Tensor& x) { torch::prod_out(out, x, 1, false, torch::kFloat); });
  each(c, "cumsum", [](Tensor& out, const Tensor& x) { torch::cumsum_out(out, x, 1); });
  each(c, "cumsum asked", [](Tensor& out, const Tensor& x) { torch::cumsum_out(out, x, 1, torch::kFloat); });
  each(c, "cumprod", [](Tensor& out, const Tensor& x) { torch::cumprod_out(out, x, 1); });
  each(c, "cumprod asked", [](Tensor& out, const Tensor& x) { torch::cumprod_out(out, x, 1, torch::kFloat); });
}

PARITY_CASE(out_dtypes, truth) {
  each(c, "all", [](Tensor& out, const Tensor& x) { torch::all_out(out, x, 1); });
  each(c, "any", [](Tensor& out, const Tensor& x) { torch::any_out(out, x, 1); });
  each(c, "all of all", [](Tensor& out, const Tensor& x) { torch::all_out(out, x); });
  each(c, "any of all", [](Tensor& out, const Tensor& x) { torch::any_out(out, x); });
}

PARITY_CASE(out_dtypes, records_of_tensors) {
  const Tensor m = torch::rand({2, 3});
  SAYS("TensorAccessor expected 3 dims but tensor has 2", (m.accessor<float, 3>()));
  SAYS("TensorAccessor expected 1 dims but tensor has 2", (m.packed_accessor64<float, 1>()));
  Tensor t;
  {
    c10::InferenceMode guard;
    t = torch::ones({2});
    SAYS("Inference tensors do not track version counter.", t._version());
  }
  SAYS("Inference tensors do not track version counter.", t._version());
  SAYS("Inference tensors do not track version counter.", t.view({2, 1})._version());
  const Tensor ones = torch::ones({2});
  SAYS("Inplace update to inference tensor outside InferenceMode is not allowed", torch::add_out(t, ones, ones));
  SAYS("Inplace update to inference tensor outside InferenceMode is not allowed", torch::mul_out(t, ones, ones));
  SAYS("Inplace update to inference tensor outside InferenceMode is not allowed", t.resize_({4}));
  SAYS("Inplace update to inference tensor outside InferenceMode is not allowed", t.split(1)[0].add_(1));
  torch::OrderedDict<std::string, int> twice{{"a", 1}, {"b", 2}, {"a", 3}};
  c.value("a key twice", twice["a"]);
  c.value("of size", static_cast<int64_t>(twice.size()));
  SAYS("'a' already defined", twice.insert("a", 4));
}

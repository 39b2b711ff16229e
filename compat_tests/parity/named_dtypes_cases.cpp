// Dtypes and layouts that no tensor has here: their names, numbers and texts, which programs compare and map.
#include <map>
#include <sstream>

#include "parity/case.h"

namespace {
template <class T>
std::string text_of(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
}  // namespace

PARITY_CASE(named_dtypes, dtypes) {
  for (const torch::Dtype t :
       {torch::kComplexHalf, torch::kQInt8, torch::kQUInt8, torch::kQInt32, torch::kQUInt4x2, torch::kQUInt2x4,
        torch::kBits1x8, torch::kBits2x4, torch::kBits4x2, torch::kBits8, torch::kBits16, torch::kFloat8_e5m2,
        torch::kFloat8_e4m3fn, torch::kFloat8_e5m2fnuz, torch::kFloat8_e4m3fnuz, torch::kFloat8_e8m0fnu})
    c.text(std::to_string(static_cast<int>(t)), c10::toString(t) + (" " + text_of(t)));
  c.text("float4", text_of(c10::ScalarType::Float4_e2m1fn_x2));
}

PARITY_CASE(named_dtypes, layouts) {
  for (const torch::Layout layout : {torch::kStrided, torch::kSparse, torch::kSparseCsr, torch::kSparseCsc,
                                     torch::kSparseBsr, torch::kSparseBsc, c10::kMkldnn, c10::kJagged})
    c.text(std::to_string(static_cast<int>(layout)), text_of(layout));
}

PARITY_CASE(named_dtypes, sizes) {
  for (const torch::ScalarType dtype :
       {torch::kFloat8_e4m3fn, torch::kFloat8_e5m2, torch::kFloat8_e4m3fnuz, torch::kFloat8_e5m2fnuz, torch::kBits16,
        torch::kBits8, torch::kQInt8, torch::kQUInt8, torch::kQInt32, torch::kComplexHalf, torch::kBool,
        torch::kBFloat16, torch::kComplexDouble})
    c.text(c10::toString(dtype), std::to_string(c10::elementSize(dtype)));
  c.throws("of none", [] { c10::elementSize(torch::ScalarType::Undefined); });
}

PARITY_CASE(named_dtypes, in_programs) {
  const std::map<std::string, torch::ScalarType> by_name{
      {"f8", torch::kFloat8_e4m3fn}, {"f8_wide", at::ScalarType::Float8_e5m2}, {"f32", torch::kFloat32}};
  for (const auto& [name, dtype] : by_name) {
    const auto bytes = [dtype = dtype] {
      switch (dtype) {
        case at::ScalarType::Float8_e4m3fn:
        case at::ScalarType::Float8_e5m2:
          return 1;
        default:
          return static_cast<int>(c10::elementSize(dtype));
      }
    };
    c.text(name, std::to_string(bytes()));
  }
  const torch::Tensor x = c.randn({3});
  c.text("is one of them", std::to_string(x.scalar_type() == torch::kFloat8_e4m3fn || x.layout() == torch::kSparseCsr));
  c.throws("promotion", [&] { c10::promoteTypes(torch::kFloat8_e4m3fn, torch::kFloat); });
  c.throws("pointer to another dtype", [&] { x.data_ptr<c10::Float8_e4m3fn>(); });
}

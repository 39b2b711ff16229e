#include "tolerance.h"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

namespace parity_diff {
namespace {

struct Row {
  const char* family;  // "" = every family without a row of its own
  Tolerance f64, f32, f16, bf16;
};

// The half types' relative tolerance is one rounding step (2^-10, 2^-7): both libraries compute in f32 and
// round once. Where LibTorch rounds intermediate results to half as well, the family's row says so with two
// steps.
constexpr Row kTable[] = {
    {"", {1e-10, 1e-12}, {1e-5, 1e-6}, {1e-3, 1e-3}, {8e-3, 8e-3}},
    // Pure data movement: nothing is computed.
    {"views", {0, 0}, {0, 0}, {0, 0}, {0, 0}},
    // Losses and weights after many dependent steps.
    {"programs", {1e-3, 1e-3}, {1e-3, 1e-3}, {1e-2, 1e-2}, {1e-2, 1e-2}},
};

Tolerance of(const Row& row, Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return row.f64;
    case Dtype::f32:
      return row.f32;
    case Dtype::f16:
      return row.f16;
    case Dtype::bf16:
      return row.bf16;
    default:
      return {0, 0};
  }
}

}  // namespace

Tolerance default_tolerance(const std::string& name, Dtype dtype) {
  const std::string family = name.substr(0, name.find('.'));
  for (const auto& row : kTable) {
    if (family == row.family) return of(row, dtype);
  }
  return of(kTable[0], dtype);
}

Tolerance parse_tolerance(const std::string& text, Dtype dtype) {
  std::istringstream stream(text);
  Tolerance tolerance;
  if (!(stream >> tolerance.rtol >> tolerance.atol)) throw std::runtime_error(fmt::format("bad tolerance '{}'", text));
  const double limit = dtype == Dtype::bf16 ? 4 * 8e-3 : dtype == Dtype::f16 ? 4 * 1e-3 : 1e-3;
  if (tolerance.rtol > limit || tolerance.atol > limit) {
    throw std::runtime_error(fmt::format("tolerance '{}' is wider than {} allows ({})", text, name_of(dtype), limit));
  }
  return tolerance;
}

}  // namespace parity_diff

#pragma once

#include <optional>
#include <string>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff::hints {

/// How the gradient `test` follows from `ref`: gradient_scale, gradient_sign, detached, …
std::optional<Hint> gradient_hint(const Trace& test_trace, int64_t step, const Tensor& ref, const Tensor& test,
                                  const std::string& noun);

}  // namespace hb::layer_diff::hints

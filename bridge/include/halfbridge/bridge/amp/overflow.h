#pragma once
// Where an overflow began.

#include <cstdint>
#include <iosfwd>
#include <string>

#include <halfbridge/macros.h>

namespace hb::bridge::nn {
inline namespace modules {
class Module;
}
}  // namespace hb::bridge::nn

namespace hb::amp {

/// What GradScaler::trace_overflow found out about a skipped update.
struct HB_API Overflow {
  /// The update that was skipped: 1 for the scaler's first.
  int64_t step = 0;
  /// The scale of that update.
  double scale = 0;
  /// True: a value of the forward pass was inf or NaN first; else a gradient was.
  bool in_forward = false;
  /// The operation that made it, named as in the graph: "ExpBackward0" is exp (in the forward pass) or its gradient.
  std::string operation;
  /// Path of the innermost module that was called through its hooks while the operation ran: "layer1.0.conv1"; empty
  /// for the model itself and what is outside of it.
  std::string layer;
  /// Path of the first parameter, in the order of the backward pass, whose gradient was not finite.
  std::string parameter;

  /// With several processes: the rank that it began on; -1 with one process.
  int64_t rank = -1;

  /// One line of text.
  std::string str() const;
};
HB_API std::ostream& operator<<(std::ostream& stream, const Overflow& overflow);

}  // namespace hb::amp

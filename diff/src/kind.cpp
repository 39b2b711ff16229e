#include <array>

#include <halfbridge/diff/trace.h>
#include <halfbridge/error.h>

namespace hb::layer_diff {

namespace {
// In the order of the enumeration.
constexpr std::array kNames = {"input",           "output",    "grad_output",    "grad_input",        "mask",
                               "parameter",       "buffer",    "parameter_grad", "updated_parameter", "updated_buffer",
                               "optimizer_state", "loss_scale"};
}  // namespace

Kind kind_of(const std::string& name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Kind>(i);
  throw ValueError("[trace] unknown kind of record '" + name + "'");
}

const char* name_of(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

}  // namespace hb::layer_diff

#include <halfbridge/bridge/nn/padding.h>

#include <ostream>

namespace hb::bridge::nn {

namespace functional {
Tensor pad(const Tensor& input, const PadFuncOptions& o) {
  if (std::holds_alternative<enumtype::kConstant>(o.mode())) return hb::constant_pad_nd(input, o.pad(), o.value());
  const char* mode = std::holds_alternative<enumtype::kReflect>(o.mode())     ? "reflect"
                     : std::holds_alternative<enumtype::kReplicate>(o.mode()) ? "replicate"
                                                                              : "circular";
  HB_CHECK(o.value() == 0, "Padding mode \"", mode, "\" doesn't take in value argument");
  return hb::pad(input, o.pad(), mode);
}
}  // namespace functional

inline namespace modules {

#define HB_PAD(Name, D, call)                                                  \
  Tensor Name##D##dImpl::forward(const Tensor& input) {                        \
    return hooked([this](const Tensor& x) { return call; }, input);            \
  }                                                                            \
  void Name##D##dImpl::pretty_print(std::ostream& stream) const {              \
    stream << "torch::nn::" #Name #D "d(padding=" << options.padding() << ")"; \
  }
#define HB_PADS(D)                                                                                                   \
  HB_PAD(ReflectionPad, D, hb::pad(x, options.padding(), "reflect"))                                                 \
  HB_PAD(ReplicationPad, D, hb::pad(x, options.padding(), "replicate"))                                              \
  HB_PAD(ZeroPad, D, hb::constant_pad_nd(x, options.padding(), 0))                                                   \
  Tensor ConstantPad##D##dImpl::forward(const Tensor& input) {                                                       \
    return hooked([this](const Tensor& x) { return hb::constant_pad_nd(x, options.padding(), options.value()); },    \
                  input);                                                                                            \
  }                                                                                                                  \
  void ConstantPad##D##dImpl::pretty_print(std::ostream& stream) const {                                             \
    stream << "torch::nn::ConstantPad" #D "d(padding=" << options.padding() << ", value=" << options.value() << ")"; \
  }
HB_PADS(1)
HB_PADS(2)
HB_PADS(3)
#undef HB_PADS
#undef HB_PAD

}  // namespace modules
}  // namespace hb::bridge::nn

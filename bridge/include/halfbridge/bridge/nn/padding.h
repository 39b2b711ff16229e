#pragma once

#include <variant>
#include <vector>

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

/// How much to add before and after each of the last D dimensions, the last one first.
#define HB_PAD_OPTIONS(Name)                                                                   \
  template <size_t D>                                                                          \
  struct Name##Options {                                                                       \
    Name##Options(ExpandingArray<D * 2> padding) : padding_(padding) {} /* NOLINT: implicit */ \
    HB_ARG(ExpandingArray<D * 2>, padding);                                                    \
  };                                                                                           \
  using Name##1dOptions = Name##Options<1>;                                                    \
  using Name##2dOptions = Name##Options<2>;                                                    \
  using Name##3dOptions = Name##Options<3>
HB_PAD_OPTIONS(ReflectionPad);
HB_PAD_OPTIONS(ReplicationPad);
HB_PAD_OPTIONS(ZeroPad);
#undef HB_PAD_OPTIONS
template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  HB_ARG(ExpandingArray<D * 2>, padding);
  HB_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

#define HB_PAD(Name, D)                                                              \
  class HB_API Name##D##dImpl : public Cloneable<Name##D##dImpl> {                   \
   public:                                                                           \
    Name##D##dImpl(ExpandingArray<(D)*2> padding) /* NOLINT: implicit */             \
        : Name##D##dImpl(Name##Options<D>(padding)) {}                               \
    explicit Name##D##dImpl(const Name##Options<D>& options_) : options(options_) {} \
    void reset() override {}                                                         \
    void pretty_print(std::ostream& stream) const override;                          \
    Tensor forward(const Tensor& input);                                             \
                                                                                     \
    Name##Options<D> options;                                                        \
  };                                                                                 \
  HB_LIBRARY_MODULE(Name##D##d)
#define HB_PADS(D)                                                                               \
  HB_PAD(ReflectionPad, D);                                                                      \
  HB_PAD(ReplicationPad, D);                                                                     \
  HB_PAD(ZeroPad, D);                                                                            \
  class HB_API ConstantPad##D##dImpl : public Cloneable<ConstantPad##D##dImpl> {                 \
   public:                                                                                       \
    ConstantPad##D##dImpl(ExpandingArray<(D)*2> padding, double value)                           \
        : ConstantPad##D##dImpl(ConstantPadOptions<D>(padding, value)) {}                        \
    explicit ConstantPad##D##dImpl(const ConstantPadOptions<D>& options_) : options(options_) {} \
    void reset() override {}                                                                     \
    void pretty_print(std::ostream& stream) const override;                                      \
    Tensor forward(const Tensor& input);                                                         \
                                                                                                 \
    ConstantPadOptions<D> options;                                                               \
  };                                                                                             \
  HB_LIBRARY_MODULE(ConstantPad##D##d)
HB_PADS(1);
HB_PADS(2);
HB_PADS(3);
#undef HB_PADS
#undef HB_PAD

}  // namespace modules

namespace functional {

struct HB_API PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(std::vector<int64_t>, pad);
  HB_ARG(mode_t, mode) = kConstant;
  HB_ARG(double, value) = 0;
};
HB_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace functional
}  // namespace hb::bridge::nn

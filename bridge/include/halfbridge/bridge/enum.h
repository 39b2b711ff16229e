#pragma once
// The named choices of options (`torch::kMean`, `torch::kReflect`, ...): one empty type each, held in std::variant.

#include <string>
#include <variant>

#include <halfbridge/error.h>
#include <halfbridge/ops/nn.h>

// clang-format off
#define HB_FORALL_CHOICES(_)                                                                                      \
  _(Linear)                                                                                                       \
  _(Conv1D)                                                                                                       \
  _(Conv2D) _(Conv3D) _(ConvTranspose1D) _(ConvTranspose2D) _(ConvTranspose3D) _(Sigmoid) _(Tanh) _(ReLU) _(GELU) \
      _(SiLU) _(Mish) _(LeakyReLU) _(FanIn) _(FanOut) _(Constant) _(Reflect) _(Replicate) _(Circular) _(Nearest)  \
          _(Bilinear) _(Bicubic) _(Trilinear) _(Area) _(NearestExact) _(Sum) _(Mean) _(Max) _(None) _(BatchMean)  \
              _(Zeros) _(Border) _(Reflection) _(RNN_TANH) _(RNN_RELU) _(LSTM) _(GRU) _(Valid) _(Same)
// clang-format on

namespace hb::bridge {

namespace enumtype {
#define HB_CHOICE(name)                            \
  struct k##name {                                 \
    constexpr k##name() {}                         \
    static constexpr const char* text = "k" #name; \
  };
HB_FORALL_CHOICES(HB_CHOICE)
#undef HB_CHOICE

/// "kMean", as option structs print it.
template <class... Ts>
std::string get_enum_name(const std::variant<Ts...>& choice) {
  return std::visit([](auto chosen) { return chosen.text; }, choice);
}
/// hb::Reduction of kNone, kMean or kSum; throws for another choice.
template <class... Ts>
loss_reduction::Reduction reduction_get_enum(const std::variant<Ts...>& choice) {
  if (std::holds_alternative<kNone>(choice)) return loss_reduction::None;
  if (std::holds_alternative<kMean>(choice)) return loss_reduction::Mean;
  if (std::holds_alternative<kSum>(choice)) return loss_reduction::Sum;
  HB_CHECK(false, get_enum_name(choice), " is not a valid value for reduction");
  return loss_reduction::None;
}
}  // namespace enumtype

// What stands in `api` is also a direct member of `torch`.
inline namespace api {
#define HB_CHOICE(name) inline constexpr enumtype::k##name k##name{};
HB_FORALL_CHOICES(HB_CHOICE)
#undef HB_CHOICE
}  // namespace api

/// A loss's reduction over the batch.
using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

}  // namespace hb::bridge

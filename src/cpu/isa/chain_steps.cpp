#include "cpu/isa/chain_steps.h"

#include "cpu/isa/convert_element.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kWidth = kLanes<float>;

#define HB_ALWAYS inline __attribute__((always_inline))

template <class T>
HB_ALWAYS void narrow_lanes(T* to, const StepVector& v) {
  float lanes[kWidth];
  std::memcpy(lanes, &v, sizeof v);
  convert_run(to, lanes, kWidth);
}
template <class T>
HB_ALWAYS StepVector widen_lanes(const T* from) {
  float lanes[kWidth];
  convert_run(lanes, from, kWidth);
  StepVector v;
  std::memcpy(&v, lanes, sizeof v);
  return v;
}

struct LoadNumber {
  StepVector number;
  HB_ALWAYS LoadNumber(const Step& step, int64_t) : number(step.number - StepVector{}) {}
  HB_ALWAYS StepVector operator()(const StepVector&, int) const { return number; }
};
template <class T>
struct Load {
  const T* from;
  HB_ALWAYS Load(const Step& step, int64_t at) : from(reinterpret_cast<const T*>(step.operand(at))) {}
  HB_ALWAYS StepVector operator()(const StepVector&, int i) const {
    if constexpr (std::is_same_v<T, float>)
      return load<float>(from + i * kWidth);
    else
      return widen_lanes(from + i * kWidth);
  }
};
template <class T>
struct Store {
  T* to;
  HB_ALWAYS Store(const Step& step, int64_t at) : to(reinterpret_cast<T*>(step.operand(at))) {}
  HB_ALWAYS StepVector operator()(const StepVector& v, int i) const {
    if constexpr (std::is_same_v<T, float>)
      store<float>(to + i * kWidth, v);
    else
      narrow_lanes(to + i * kWidth, v);
    return v;
  }
};
struct StoreExactBf16 : Store<BFloat16> {
  using Store::Store;
  HB_ALWAYS StepVector operator()(const StepVector& v, int i) const {
    uint32_t bits[kWidth];
    std::memcpy(bits, &v, sizeof v);
    auto* out = reinterpret_cast<uint16_t*>(to) + i * kWidth;
    HB_INDEPENDENT
    for (int k = 0; k < kWidth; ++k) out[k] = static_cast<uint16_t>(bits[k] >> 16);
    return v;
  }
};
template <class T>
struct Round {
  HB_ALWAYS Round(const Step&, int64_t) {}
  HB_ALWAYS StepVector operator()(const StepVector& v, int) const {
    T narrow[kWidth];
    narrow_lanes(narrow, v);
    return widen_lanes(narrow);
  }
};

// Functions of their own: a step with variables whose places others learn would not end in a jump.
[[gnu::noinline]] void bring(const Step& step, int64_t at) {
  const RowsAt place{reinterpret_cast<char*>(step.place), sizeof(float), 0};
  step.convert(place, {step.operand(at), step.width, 0}, {kStepElements, 1});
}
[[gnu::noinline]] void write(const Step& step, int64_t at) {
  const RowsAt place{reinterpret_cast<char*>(step.place), sizeof(float), 0};
  step.convert({step.operand(at), step.width, 0}, place, {kStepElements, 1});
}
[[gnu::noinline]] void call_formula(const CalledFormula& c, int64_t at) {
  const float* in[Loop::kMaxOperands];
  for (size_t k = 0; k < std::size(c.input); ++k)
    in[k] = reinterpret_cast<const float*>(c.input[k].data + at * c.input[k].bytes);
  float* out[1] = {c.result};
  c.loop(out, in, kStepElements, c.params, {});
}

template <void (*convert)(const Step&, int64_t)>
struct Convert {
  HB_ALWAYS Convert(const Step& step, int64_t at) { convert(step, at); }
  HB_ALWAYS StepVector operator()(const StepVector& v, int) const { return v; }
};
struct Call {
  const float* result;
  HB_ALWAYS Call(const Step& step, int64_t at) : result(step.called->result) { call_formula(*step.called, at); }
  HB_ALWAYS StepVector operator()(const StepVector&, int i) const { return load<float>(result + i * kWidth); }
};

void finish(const Step*, int64_t, StepVector, StepVector, StepVector, StepVector, StepVector, StepVector, StepVector,
            StepVector) {}

}  // namespace

const ChainSteps chain_steps{
    .load_number = step_of<LoadNumber>,
    .load_float = step_of<Load<float>>,
    .load_bf16 = step_of<Load<BFloat16>>,
    .load_half = step_of<Load<Half>>,
    .store_float = step_of<Store<float>>,
    .store_bf16 = step_of<Store<BFloat16>>,
    .store_exact_bf16 = step_of<StoreExactBf16>,
    .store_half = step_of<Store<Half>>,
    .round_bf16 = step_of<Round<BFloat16>>,
    .round_half = step_of<Round<Half>>,
    .bring = step_of<Convert<bring>>,
    .write = step_of<Convert<write>>,
    .call = step_of<Call>,
    .finish = finish,
};

}  // namespace hb::cpu::HB_ISA

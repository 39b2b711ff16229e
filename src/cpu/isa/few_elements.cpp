#include "cpu/few_elements.h"

#include "cpu/isa/elementwise_runner.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

using Operand = FewElements::Operand;

constexpr int64_t kMostBrought = kBlock;  // elements, where an operand is brought to a buffer

const float* floats_of(const Operand& o) { return o.is_number ? &o.number : reinterpret_cast<const float*>(*o.data); }

/// Whether the formula reads, or writes, an operand where it lies.
bool lies_ready(const Operand& o) { return !o.single && !o.convert && o.at.empty(); }

/// All operands lie ready, or are one float that stands for all.
void run_ready(const FewElements& few) {
  float* const out[1] = {reinterpret_cast<float*>(*few.operand[0].data)};
  const float* in[kMax];
  for (int k = 1; k < few.operands; ++k) in[k - 1] = floats_of(few.operand[k]);
  PaddedFormula<float>(*few.fn, few.params, 1, few.operands)(out, in, few.numel, few.shared);
}

void bring(const Operand& o, float* to, int64_t n) {
  if (o.single) return void(std::fill_n(to, n, *floats_of(o)));
  if (o.convert) return o.convert({reinterpret_cast<char*>(to), sizeof(float), 0}, {*o.data, 1, 0}, {n, 1});
  const float* const from = floats_of(o);
  const int64_t* const at = o.at.data();
  HB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = from[at[i]];
}

void run_brought(const FewElements& few) {
  alignas(64) float memory[kMax][kMostBrought];
  const Operand& result = few.operand[0];
  float* const out[1] = {result.convert ? memory[0] : reinterpret_cast<float*>(*result.data)};
  const float* in[kMax];
  for (int k = 1; k < few.operands; ++k) {
    const Operand& o = few.operand[k];
    in[k - 1] = lies_ready(o) ? floats_of(o) : memory[k];
    if (!lies_ready(o)) bring(o, memory[k], few.shared >> (k - 1) & 1 ? 1 : few.numel);
  }
  PaddedFormula<float>(*few.fn, few.params, 1, few.operands)(out, in, few.numel, few.shared);
  if (result.convert)
    result.convert({*result.data, 1, 0}, {reinterpret_cast<char*>(memory[0]), sizeof(float), 0}, {few.numel, 1});
}

/// Where the elements of a loop's operand lie, in floats; empty where they lie one after the other.
std::vector<int64_t> places_of(const Loop& loop, const Loop::Operand& operand) {
  std::vector<int64_t> at(loop.numel);
  bool dense = true;
  for (int64_t i = 0; i < loop.numel; ++i) {
    int64_t rest = i, bytes = 0;
    for (size_t d = 0; d < loop.sizes.size(); ++d) {
      bytes += rest % loop.sizes[d] * operand.strides[d];
      rest /= loop.sizes[d];
    }
    at[i] = bytes / static_cast<int64_t>(sizeof(float));
    dense &= bytes == i * static_cast<int64_t>(element_size(operand.dtype));
  }
  if (dense) at.clear();
  return at;
}

struct Call {
  const ElementwiseCall& call;
  int operands() const { return call.flat ? call.flat->operands : call.loop->operands; }
  int outputs() const { return call.flat ? call.flat->outputs : call.loop->outputs; }
  int64_t numel() const { return call.flat ? call.flat->numel : call.loop->numel; }
  char* const& data(int k) const { return call.flat ? call.flat->data[k] : call.loop->op[k].data; }
  ScalarType dtype(int k) const { return call.flat ? call.flat->dtype[k] : call.loop->op[k].dtype; }
  bool is_number(int k) const { return (call.flat ? call.flat->numbers : call.loop->numbers) >> k & 1; }
};

/// False where the operand has a dtype, or lies in a way, for which the routine itself is as good.
bool prepare_operand(const Call& call, int k, Operand& o) {
  const ScalarType dtype = call.dtype(k);
  o.data = &call.data(k);
  if (call.is_number(k)) {
    o.single = o.is_number = true;
    const RowsAt to{reinterpret_cast<char*>(&o.number), 0, 0}, from{call.data(k), 0, 0};
    convert_rows(kFloat, dtype)(to, from, {1, 1});
    return true;
  }
  if (dtype != kFloat && dtype != kBool) return false;
  if (call.call.flat)
    o.single = call.call.flat->single >> k & 1;
  else
    o.at = places_of(*call.call.loop, call.call.loop->op[k]);
  if (dtype == kFloat) return true;
  o.convert = k == 0 ? convert_rows(kBool, kFloat) : convert_rows(kFloat, kBool);
  return o.at.empty() && !o.single;
}

}  // namespace

bool prepare(ElementwiseRoutine routine, const ElementwiseCall& c, FewElements& few) {
  const Call call{c};
  if (c.compute != kFloat || call.outputs() != 1 || call.numel() == 0) return false;
  ElementwiseCall asking = c;
  asking.asked = &few.fn;
  routine(asking);
  few.params = c.params.data(), few.numel = call.numel(), few.operands = call.operands();
  const int64_t most = std::max<int64_t>(kGrain / few.fn->cost, 1024);
  if (!few.fn->f32 || few.numel > (c.flat ? most : kMostBrought)) return false;
  bool ready = true;
  for (int k = 0; k < few.operands; ++k) {
    Operand& o = few.operand[k];
    if (!prepare_operand(call, k, o)) return false;
    if (k == 0 && !o.at.empty()) return false;
    if (o.single) few.shared |= 1u << (k - 1);
    ready &= o.single || lies_ready(o);
  }
  // Of one element there is nothing to share.
  const bool shares = few.shared < 8 && few.fn->shared_sets >> few.shared & 1;
  ready &= few.numel == 1 || shares;
  if (few.numel == 1 || !shares) few.shared = 0;
  few.run = ready ? run_ready : run_brought;
  return ready || few.numel <= kMostBrought;
}

}  // namespace hb::cpu::HB_ISA

#include "cpu/isa/chain_program.h"

#include "cpu/isa/convert.h"

namespace hb::cpu::HB_ISA {
namespace {

bool is_number(const ChainLink& link, int k) { return link.flat.single >> k & 1; }

/// Whether an operand stands where link `writer` leaves its result.
bool reads_result(const ChainLink& reader, int k, const ChainLink& writer) {
  if (is_number(reader, k) || reader.flat.dtype[k] != writer.flat.dtype[0] || reader.value[k] != writer.value[0])
    return false;
  return reader.value[k] >= 0 || reader.flat.data[k] == writer.flat.data[0];
}

/// The operand of a link that is the result of the one before; 0 (no operand that is read) where none is.
int held_operand(ArrayRef<ChainLink> links, size_t j) {
  if (j == 0 || j == links.size()) return 0;
  for (int k = 1; k < links[j].flat.operands; ++k)
    if (reads_result(links[j], k, links[j - 1])) return k;
  return 0;
}

/// Whether a link reads the value that link j writes otherwise than from the registers.
bool is_read_later(ArrayRef<ChainLink> links, size_t j) {
  if (links[j].value[0] < 0) return false;
  for (size_t i = j + 1; i < links.size(); ++i) {
    for (int k = 1; k < links[i].flat.operands; ++k)
      if (reads_result(links[i], k, links[j]) && (i > j + 1 || k != held_operand(links, i))) return true;
    if (links[i].value[0] == links[j].value[0]) return false;
  }
  return false;
}

const ElementwiseFn& formula_of(const ChainLink& link) {
  const ElementwiseFn* fn = nullptr;
  link.fn({&link.flat, nullptr, link.compute, link.params, &fn});
  return *fn;
}

/// Whether the call of its own works on bits alone: its results need no rounding.
bool is_on_bits(const ChainLink& link, const ElementwiseFn& fn) {
  const ScalarType* const dtype = link.flat.dtype;
  return fn.half_bits && is_half_type(dtype[0]) &&
         std::all_of(dtype, dtype + link.flat.operands, [&](ScalarType t) { return t == dtype[0]; });
}

float number_of(const ChainLink& link, int k) {
  float number = 0;
  const RowsAt to{reinterpret_cast<char*>(&number), 0, 0}, from{link.flat.data[k], 0, 0};
  convert_rows(kFloat, link.flat.dtype[k])(to, from, {1, 1});
  return number;
}

int64_t size_of(ScalarType dtype) { return static_cast<int64_t>(element_size(dtype)); }

}  // namespace

bool ChainProgram::takes(const ChainCall& chain) {
  std::vector<ScalarType> written(chain.values, ScalarType::Undefined);
  for (const ChainLink& l : chain.links) {
    if (l.compute != kFloat || !formula_of(l).f32) return false;
    for (int k = l.flat.operands - 1; k >= 0; --k) {
      if (l.value[k] < 0) continue;
      ScalarType& dtype = written[l.value[k]];
      // A value is kept as floats: its bits cannot be read as another dtype's.
      if (k > 0 && dtype != ScalarType::Undefined && dtype != l.flat.dtype[k]) return false;
      if (k == 0) dtype = l.flat.dtype[0];
    }
  }
  return true;
}

ChainProgram::ChainProgram(const ChainCall& chain) : chain_(chain) {
  size_t params = 0, numbers = 0;
  for (const ChainLink& l : chain.links) {
    params += l.params.size();
    numbers += __builtin_popcount(l.flat.single);
  }
  // What steps point to stays where it is.
  params_.reserve(params);
  called_.reserve(chain.links.size());
  slots_ = std::vector<Slot>(chain.values + Loop::kMaxOperands + numbers);
  steps_.reserve(4 * chain.links.size() + 1);
  for (size_t j = 0; j < chain.links.size(); ++j) add_link(j);
  add(chain_steps.finish);
}

void ChainProgram::move(const std::vector<size_t>& steps, char* data, int64_t at) {
  for (const size_t i : steps) steps_[i].data = data - at * steps_[i].bytes;
}

void ChainProgram::run(int64_t from, int64_t to) const {
  const Step* const first = steps_.data();
  const StepVector none{};
  for (int64_t at = from; at < to; at += kStepElements)
    first->run(first, at, none, none, none, none, none, none, none, none);
}

ChainProgram::Place ChainProgram::place(const ChainLink& link, int k) {
  const ScalarType dtype = link.flat.dtype[k];
  if (link.value[k] < 0) return {link.flat.data[k], size_of(dtype), dtype};
  if (chain_.front && front_is_read_ && link.value[k] == chain_.front->value)
    return {nullptr, size_of(dtype), dtype, &front_steps_};
  return {slot(link.value[k]), 0, kFloat};
}

Step& ChainProgram::add(StepRoutine routine, const Place& place) {
  if (place.moved) place.moved->push_back(steps_.size());
  Step& step = add(routine);
  step.data = place.data;
  step.bytes = place.bytes;
  step.width = size_of(place.dtype);
  return step;
}

ChainProgram::Place ChainProgram::as_floats(const Place& place, int k, bool stays) {
  if (place.dtype == kFloat && !(place.moved && stays)) return place;
  Step& step = add(chain_steps.bring, place);
  step.place = reinterpret_cast<float*>(temporary(k));
  step.convert = convert_rows(kFloat, place.dtype);
  return {temporary(k), 0, kFloat};
}

/// Brings an operand to the registers, unless one is there; says which.
int ChainProgram::take_operand(size_t j) {
  const ChainLink& link = chain_.links[j];
  if (const int held = held_operand(chain_.links, j)) return held;
  for (int k = 1; k < link.flat.operands; ++k) {
    if (is_number(link, k)) continue;
    const Place p = place(link, k);
    if (p.dtype == kBFloat16)
      add(chain_steps.load_bf16, p);
    else if (p.dtype == kHalf)
      add(chain_steps.load_half, p);
    else
      add(chain_steps.load_float, as_floats(p, k));
    return k;
  }
  add(chain_steps.load_number).number = number_of(link, 1);
  return 1;
}

void ChainProgram::add_link(size_t j) {
  const ChainLink& link = chain_.links[j];
  const ElementwiseFn& fn = formula_of(link);
  const int held = take_operand(j);
  if (fn.steps)
    add_formula(link, fn, held);
  else
    add_call(link, fn, held);
  if (chain_.front && link.value[0] == chain_.front->value) front_is_read_ = false;
  add_result(j, fn);
}

void ChainProgram::add_formula(const ChainLink& link, const ElementwiseFn& fn, int held) {
  const auto& of = *static_cast<const FormulaSteps*>(fn.steps);
  const bool first = held == 1;
  const float* const params = params_.data() + params_.size();
  for (const double p : link.params) params_.push_back(static_cast<float>(p));
  const int other = first ? 2 : 1;
  if (link.flat.operands < 3 || is_number(link, other)) {
    Step& step = add(first ? of.with_number : of.to_number);
    step.params = params;
    if (link.flat.operands == 3) step.number = number_of(link, other);
    return;
  }
  const Place p = as_floats(place(link, other), other);
  add(first ? of.with_memory : of.to_memory, p).params = params;
}

void ChainProgram::add_call(const ChainLink& link, const ElementwiseFn& fn, int held) {
  CalledFormula& call = called_.emplace_back();
  call.loop = fn.f32;
  call.params = link.params.data();
  call.result = reinterpret_cast<float*>(temporary(0));
  std::fill(std::begin(call.input), std::end(call.input), CalledFormula::Input{temporary(0), 0});
  for (int k = 1; k < link.flat.operands; ++k) {
    CalledFormula::Input& input = call.input[k - 1];
    if (k == held) {
      add(chain_steps.store_float, Place{temporary(k), 0, kFloat});
      input = {temporary(k), 0};
    } else if (is_number(link, k)) {
      char* const place = slot(chain_.values + Loop::kMaxOperands + numbers_++);
      std::fill_n(reinterpret_cast<float*>(place), kStepElements, number_of(link, k));
      input = {place, 0};
    } else {
      const Place p = as_floats(place(link, k), k, true);
      input = {p.data, p.bytes};
    }
  }
  add(chain_steps.call).called = &call;
}

/// Makes of the registers what they would be after being stored in a dtype and read again.
void ChainProgram::round(ScalarType dtype) {
  if (dtype == kFloat) return;
  if (dtype == kBFloat16) return void(add(chain_steps.round_bf16));
  if (dtype == kHalf) return void(add(chain_steps.round_half));
  const Place floats{temporary(1), 0, kFloat}, stored{temporary(2), 0, dtype};
  add(chain_steps.store_float, floats);
  Step& write = add(chain_steps.write, stored);
  write.place = reinterpret_cast<float*>(floats.data);
  write.convert = convert_rows(dtype, kFloat);
  add(chain_steps.load_float, as_floats(stored, 1));
}

void ChainProgram::add_result(size_t j, const ElementwiseFn& fn) {
  const ChainLink& link = chain_.links[j];
  const ScalarType dtype = link.flat.dtype[0];
  const bool exact = is_on_bits(link, fn), later = is_read_later(chain_.links, j);
  const bool goes_on = later || held_operand(chain_.links, j + 1) > 0;
  if (goes_on && !exact) round(dtype);
  Place to = place(link, 0);
  const bool reduced = chain_.tail && j + 1 == chain_.links.size() && chain_.tail->value >= 0;
  if (reduced) to = {nullptr, size_of(dtype), dtype, &tail_steps_};
  if (link.value[0] >= 0 && !reduced) {
    if (later) add(chain_steps.store_float, to);
  } else if (dtype == kFloat) {
    add(chain_steps.store_float, to);
  } else if (dtype == kBFloat16) {
    add(exact ? chain_steps.store_exact_bf16 : chain_steps.store_bf16, to);
  } else if (dtype == kHalf) {
    add(chain_steps.store_half, to);
  } else {
    add(chain_steps.store_float, Place{temporary(1), 0, kFloat});
    Step& write = add(chain_steps.write, to);
    write.place = reinterpret_cast<float*>(temporary(1));
    write.convert = convert_rows(dtype, kFloat);
  }
}

}  // namespace hb::cpu::HB_ISA

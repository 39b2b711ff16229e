#pragma once
// The bytes of the numbers in each kind of argument (backend/captured.h says which there are).

#include <cstring>
#include <string>
#include <vector>

#include "backend/conv.h"
#include "backend/elementwise.h"
#include "backend/pool.h"
#include "backend/reduce.h"
#include "backend/separable.h"
#include "backend/tap_sum.h"

namespace hb::graph {

class NumberBytes final {
 public:
  std::string bytes;

  template <class T>
  void raw(const T& number) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  template <class List>
  void list(const List& numbers) {
    raw(numbers.size());
    for (const auto& n : numbers) raw(n);
  }

  template <class T>
  void add(capture::Kept<T>& kept) {
    if constexpr (std::is_pointer_v<T>)
      raw(kept.value != nullptr);
    else if constexpr (std::is_class_v<T>)
      whole(kept.value);
    else
      raw(kept.value);
  }
  template <class T>
  void add(capture::Kept<ArrayRef<T>>& kept) {
    raw(kept.value.size());
    for (T& item : kept.value)
      if constexpr (std::is_class_v<T>)
        whole(item);
      else if constexpr (!std::is_pointer_v<T>)
        raw(item);
  }
  void add(capture::Kept<const char*>& kept) {
    if (kept.value) bytes.append(kept.value);
    bytes.push_back('\0');
  }
  void add(capture::Kept<const double*>& kept) {
    raw(kept.value.has_value());
    if (kept.value) raw(*kept.value);
  }
  void add(capture::Kept<Tensor>& kept) {
    raw(kept.value.defined());
    if (!kept.value.defined()) return;
    const TensorImpl& t = kept.value.impl();
    raw(t.dtype()), raw(t.physical_offset()), list(t.sizes()), list(t.physical_strides());
  }
  void add(capture::Kept<Scalar>& kept) {
    raw(kept.value.type());
    const auto z = kept.value.to<Complex<double>>();
    raw(z.real()), raw(z.imag());
    if (kept.value.isIntegral(true))
      raw(kept.value.isUnsigned() ? kept.value.to<uint64_t>() : uint64_t(kept.value.toLong()));
  }
  void add(capture::Kept<std::optional<Generator>>& kept) {
    raw(kept.value ? reinterpret_cast<uintptr_t>(kept.value->unsafeGetGeneratorImpl()) : 0);
  }
  void add(capture::Kept<ElementwiseCall>& kept) {
    raw(kept.value.compute), list(kept.params);
    if (kept.loop) {
      loop(*kept.loop);
    } else {
      const FlatLoop& flat = kept.flat;
      raw(flat.outputs), raw(flat.operands), raw(flat.numel), raw(flat.single), raw(flat.numbers);
      for (int k = 0; k < flat.operands; ++k) raw(flat.dtype[k]);
    }
    const unsigned on_host = kept.loop ? kept.loop->numbers : kept.flat.numbers;
    for (int k = 0; k < Loop::kMaxOperands; ++k)
      if (on_host >> k & 1)
        bytes.append(kept.numbers[k], element_size(kept.loop ? kept.loop->op[k].dtype : kept.flat.dtype[k]));
  }
  void add(capture::Kept<Loop>& kept) { loop(kept.value); }
  void add(capture::Kept<ReduceLoop>& kept) { whole(kept.value); }
  void add(capture::Kept<const ReduceLoop*>& kept) {
    raw(kept.value.has_value());
    if (kept.value) whole(kept.value->value);
  }

 private:
  void loop(const Loop& l) {
    raw(l.outputs), raw(l.operands), raw(l.numbers), raw(l.numel), list(l.sizes);
    for (int k = 0; k < l.operands; ++k) raw(l.op[k].dtype), list(l.op[k].strides);
  }
  void whole(const ReduceLoop& l) {
    raw(l.in_dtype), raw(l.out_dtype), raw(l.outputs), raw(l.count);
    for (const DimVector* d : {&l.kept, &l.kept_in, &l.kept_out, &l.reduced, &l.reduced_in}) list(*d);
  }
  void whole(const PoolWindows& w) {
    raw(w.divisor);
    for (const PoolWindows::Dim& d : w.dim)
      raw(d.in), raw(d.out), raw(d.step), list(d.begin), list(d.end), list(d.extent);
  }
  void whole(const SeparableIndex& s) {
    raw(s.outer), raw(s.inner), list(s.size);
    for (const auto& index : s.index) list(index);
  }
  void whole(const TapSum& s) {
    raw(s.outer), raw(s.inner), raw(s.rule.in), raw(s.rule.out), raw(s.rule.step);
    raw(s.rule.corners), raw(s.rule.cubic), raw(s.index.size());
    for (const auto& index : s.index) list(index);
    for (const auto& weight : s.weight) list(weight);
  }
  /// All but the addresses and what lies between the members.
  template <class T>
  void whole(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "say what the numbers of this struct are");
    T copy(value);
    __builtin_clear_padding(&copy);
    class Blank final : public capture::Operands {
      void place(void* pointer, const void* address, capture::Access) override {
        const bool there = address != nullptr;
        std::memset(pointer, there, sizeof(void*));
      }
      void tensor(Tensor&) override {}
      void refuse(const char*) override {}
    } blank;
    operands(blank, copy);
    bytes.append(reinterpret_cast<const char*>(&copy), sizeof copy);
  }
};

}  // namespace hb::graph

#pragma once
// What a recording (graph mode) keeps of a kernel's call, so that it can be run again: the routine and arguments of its
// own. The back ends and functions know nothing of it; a kernel's signature says all there is to know:
//
//   numbers, enums           are copied; `const char*` is a name that lives as long as the library
//   const T*, T*             places in tensors' memory that the routine reads, or changes
//   const double*            a number on the host, or null: copied
//   Tensor                   a record of its own, with the geometry of the call
//   ArrayRef<T>              a list of its own
//   structs                  are copied; a function `operands(v, s)` beside the struct shows the places in them. It is
//                            empty for a struct of numbers (HB_NO_OPERANDS). A struct without one does not compile.

#include <atomic>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/device.h>
#include <halfbridge/generator.h>
#include <halfbridge/scalar.h>
#include <halfbridge/tensor.h>

namespace hb::capture {

enum class Access { reads, writes, changes };

/// Is shown each place in tensors' memory that a call's arguments hold.
class Operands {
 public:
  /// `pointer`: where the arguments hold the address.
  virtual void place(void* pointer, const void* address, Access access) = 0;
  virtual void tensor(Tensor& t) = 0;
  /// The call depends on what the host read of tensors.
  virtual void refuse(const char* why) = 0;

  template <class T>
  void reads(T*& p) {
    place(&p, p, Access::reads);
  }
  /// All of the result, and its old values count for nothing.
  template <class T>
  void writes(T*& p) {
    place(&p, p, Access::writes);
  }
  template <class T>
  void changes(T*& p) {
    place(&p, p, Access::changes);
  }

 protected:
  ~Operands() = default;
};

/// A struct of numbers alone.
#define HB_NO_OPERANDS(Type) \
  inline void operands(::hb::capture::Operands&, Type&) {}

/// The copy of an argument that a recorded call keeps.
template <class T>
struct Kept {
  T value;
  explicit Kept(const T& v) : value(v) {}
  T& get() { return value; }
  void show(Operands& v) {
    if constexpr (std::is_class_v<T>) operands(v, value);
  }
};

template <class T>
struct Kept<T*> {
  T* value;
  explicit Kept(T* v) : value(v) {}
  T* get() { return value; }
  void show(Operands& v) {
    if constexpr (std::is_const_v<T>)
      v.reads(value);
    else
      v.changes(value);
  }
};
template <>
struct Kept<const char*> {
  const char* value;
  explicit Kept(const char* v) : value(v) {}
  const char* get() { return value; }
  void show(Operands&) {}
};
template <>
struct Kept<const double*> {
  std::optional<double> value;
  explicit Kept(const double* v) {
    if (v) value = *v;
  }
  const double* get() { return value ? &*value : nullptr; }
  void show(Operands&) {}
};

template <>
struct Kept<Tensor> {
  Tensor value;
  explicit Kept(const Tensor& t) : value(t.defined() && t.layout() == kStrided ? Tensor(t.impl().snapshot()) : t) {}
  Tensor& get() { return value; }
  void show(Operands& v) { v.tensor(value); }
};
template <>
struct Kept<Scalar> {
  Scalar value;
  explicit Kept(const Scalar& s) : value(s) {}
  Scalar& get() { return value; }
  void show(Operands&) {}
};
template <>
struct Kept<std::optional<Generator>> {  // a handle: each run draws the numbers that are next
  std::optional<Generator> value;
  explicit Kept(const std::optional<Generator>& g) : value(g) {}
  std::optional<Generator>& get() { return value; }
  void show(Operands&) {}
};
template <class T>
struct Kept<ArrayRef<T>> {
  std::vector<T> value;
  explicit Kept(ArrayRef<T> list) : value(list.begin(), list.end()) {}
  ArrayRef<T> get() { return value; }
  void show(Operands& v) {
    if constexpr (std::is_class_v<T>)
      for (T& item : value) operands(v, item);
  }
};

/// A kernel's call that can be run again.
class HB_API Call {
 public:
  explicit Call(const char* name) : name(name) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call();
  virtual void run() = 0;
  virtual void show(Operands& v) = 0;
  const char* const name;
};

template <class... Args>
class CallOf final : public Call {
 public:
  using Function = void (*)(Args...);
  CallOf(const char* name, Function fn, const std::remove_cvref_t<Args>&... args) : Call(name), fn(fn), kept(args...) {}
  void run() override {
    std::apply([this](auto&... k) { fn(k.get()...); }, kept);
  }
  void show(Operands& v) override {
    std::apply([&v](auto&... k) { (k.show(v), ...); }, kept);
  }

  const Function fn;
  std::tuple<Kept<std::remove_cvref_t<Args>>...> kept;
};

inline bool any_recording() { return recording_threads.load(std::memory_order_relaxed) != 0; }
/// Whether this thread records, and is not within a kernel. What happens then is told to its recorder
/// (core/recorder.h).
HB_API bool records() noexcept;
HB_API void tell_call(std::unique_ptr<Call> call, const Device& device);
/// What happens here cannot be recorded; the work itself goes on.
HB_API void tell_refusal(const char* name, const char* why);

/// Within a kernel.
class Inside {
 public:
  HB_API Inside() noexcept;
  HB_API ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  void* outer_;
};

/// Tells the thread's recorder of a call, then makes it by `run`.
template <class R, class... Args, class Run>
[[gnu::noinline, gnu::cold]] R record_call(R (*fn)(Args...), const char* name, const Device& device, const Run& run,
                                           const std::remove_cvref_t<Args>&... args) {
  if (records()) {
    if constexpr (std::is_void_v<R>)
      tell_call(std::make_unique<CallOf<Args...>>(name, fn, args...), device);
    else
      tell_refusal(name, "gives its result to the host");
  }
  const Inside inside;
  return run();
}

}  // namespace hb::capture

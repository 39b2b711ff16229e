#pragma once
// Calls of operators by name. Which overload a call means follows from the kinds of its arguments; each place of the
// code remembers what it found.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/bridge/dispatch/dispatcher.h>

#include "script/builtins.h"

namespace hb::bridge::script {

/// An overload.
struct Candidate {
  const FunctionSchema* schema;
  std::optional<OperatorHandle> op;          // of the dispatcher,
  void (*run)(jit::Stack& stack) = nullptr;  // or of the table in operators_own.cpp
};
std::vector<Candidate> candidates_of(const std::string& name);
/// Functions that the dispatcher does not have.
std::vector<Candidate> own_candidates(const std::string& name);

/// How an argument becomes what the schema asks for.
enum class Conversion : uint8_t {
  None,
  TensorToInt,
  TensorToFloat,
  TensorToBool,
  TensorToScalar,
  IntToFloat,
  BoolToInt,
  ToDtype,
  ToComplex,
  ToTensor,
  ToDevice,
  Repeat,  // one value for a list of N
  TupleToList,
  Varargs,  // this argument and all behind it are one list
};

/// A call that fits a candidate.
struct Plan {
  Candidate candidate;
  struct Source {
    int argument = -1;  // -1: the default
    Conversion conversion = Conversion::None;
    int32_t count = 0;  // of Repeat
  };
  std::vector<Source> sources;
  size_t results = 1;
  bool plain = false;  // the arguments in their order, then defaults
};
/// What a match may do: nothing, what changes no meaning, all.
enum class Conversions : uint8_t { None, Plain, All };
/// The first candidate that the arguments fit, with as few conversions as can be. `names`: of the last ones.
std::optional<Plan> match(const std::vector<Candidate>& candidates, const Values& arguments,
                          const std::vector<std::string>& names);

/// What an argument becomes for one of the overload's.
IValue convert(IValue value, const Plan::Source& source);

/// One place of the code that calls.
class OperatorCall {
 public:
  OperatorCall(std::string name, std::vector<std::string> names);
  ~OperatorCall();
  /// Uses the arguments up. Throws for functions that code may not call, and where no overload fits.
  IValue call(Values& arguments) const;
  /// The same for two integers or two floats, without the table; false where that is left to call().
  bool of_numbers(const IValue& a, const IValue& b, IValue& result) const;
  /// Whether any function of this name is known.
  bool known() const;
  const std::string& name() const { return name_; }

 private:
  static constexpr size_t kMostKinds = 16;
  using Kinds = std::array<uint8_t, kMostKinds>;
  struct Entry {
    Kinds kinds{};
    Plan plan;
    const Entry* next = nullptr;
  };
  const Plan* remembered(const Kinds& kinds) const;
  Values in_their_places(const Values& arguments) const;
  IValue find_and_call(Values& arguments, const Kinds& kinds, bool remember) const;
  IValue run(const Plan& plan, Values& arguments) const;
  [[noreturn]] void fail(const Values& arguments, const std::vector<Candidate>& candidates) const;

  std::string name_;
  std::vector<std::string> names_;
  std::optional<std::vector<size_t>> places_;  // of a builtin's arguments that have names
  const Builtins* builtins_;
  enum class Simple : uint8_t { None, Add, Sub, Mul, Eq, Ne, Lt, Gt, Le, Ge, Remainder } simple_;
  static Simple simple_of(const std::string& name);
  template <typename T>
  bool compare(T a, T b, IValue& result) const;
  bool of_ints(int64_t a, int64_t b, IValue& result) const;
  bool of_floats(double a, double b, IValue& result) const;
  mutable std::atomic<const Entry*> entries_{nullptr};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Entry>> owned_;
};

}  // namespace hb::bridge::script

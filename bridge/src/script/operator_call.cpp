#include "script/operator_call.h"

#include <halfbridge/error.h>

#include "dispatch/overloads.h"

namespace hb::bridge::script {
namespace {

// What a list or value is for the choice of an overload; calls of equal kinds mean the same overload.
enum Kind : uint8_t {
  kNone = 1,
  kTensor,
  kInt,
  kFloat,
  kBool,
  kComplex,
  kText,
  kDevice,
  kGenerator,
  kDict,
  kEmptyList,
  kIntList,
  kFloatList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,
  kTextList,
  kOther,  // looked at anew in each call
};

uint8_t kind_of_list(const std::vector<IValue>& items) {
  if (items.empty()) return kEmptyList;
  uint8_t kind = 0;
  for (const IValue& item : items) {
    uint8_t own = kOther;
    if (item.isTensor()) {
      own = kTensorList;
    } else if (item.isInt()) {
      own = kIntList;
    } else if (item.isDouble()) {
      own = kFloatList;
    } else if (item.isBool()) {
      own = kBoolList;
    } else if (item.isNone()) {
      own = kOptionalTensorList;
    } else if (item.isString()) {
      own = kTextList;
    }
    if (kind == 0) kind = own;
    const bool tensors =
        (kind == kTensorList || kind == kOptionalTensorList) && (own == kTensorList || own == kOptionalTensorList);
    if (tensors && kind != own) kind = kOptionalTensorList;
    if (kind != own && !tensors) return kOther;
  }
  return kind;
}

uint8_t kind_of(const IValue& value) {
  if (value.isTensor()) return kTensor;
  if (value.isInt()) return kInt;
  if (value.isNone()) return kNone;
  if (value.isBool()) return kBool;
  if (value.isDouble()) return kFloat;
  if (value.isList()) return kind_of_list(value.toListRef());
  if (value.isString()) return kText;
  if (value.isDevice()) return kDevice;
  if (value.isGenerator()) return kGenerator;
  if (value.isGenericDict()) return kDict;
  if (value.isComplexDouble()) return kComplex;
  return kOther;
}

IValue arguments_as_list(const Values& arguments, const Plan::Source& source) {
  const auto from = arguments.begin() + source.argument;
  return list_of_items(std::vector<IValue>(from, from + source.count));
}

// What would reach outside of the process, or around the rules of tensors.
bool is_refused(const std::string& name) {
  constexpr const char* kRefused[] = {"aten::save",      "aten::load",     "aten::from_file",
                                      "aten::from_blob", "aten::set_data", "aten::_cuda_getCurrentRawStream",
                                      "prim::profile",   "prim::PythonOp", "aten::data_ptr"};
  for (const char* refused : kRefused) {
    if (name == refused) return true;
  }
  return false;
}

}  // namespace

std::vector<Candidate> candidates_of(const std::string& name) {
  std::vector<Candidate> all = own_candidates(name);
  for (const OperatorHandle& op : overloads_of(name)) all.push_back({&op.schema(), op});
  return all;
}

OperatorCall::OperatorCall(std::string name, std::vector<std::string> names)
    : name_(std::move(name)),
      names_(std::move(names)),
      places_(places_of_names(name_, names_)),
      builtins_(names_.empty() || places_ ? find_builtins(name_) : nullptr),
      simple_(names_.empty() ? simple_of(name_) : Simple::None) {}
OperatorCall::~OperatorCall() = default;

OperatorCall::Simple OperatorCall::simple_of(const std::string& name) {
  constexpr std::pair<const char*, Simple> kNames[] = {
      {"aten::add", Simple::Add}, {"aten::sub", Simple::Sub},
      {"aten::mul", Simple::Mul}, {"aten::eq", Simple::Eq},
      {"aten::ne", Simple::Ne},   {"aten::lt", Simple::Lt},
      {"aten::gt", Simple::Gt},   {"aten::le", Simple::Le},
      {"aten::ge", Simple::Ge},   {"aten::remainder", Simple::Remainder}};
  for (const auto& [known, simple] : kNames) {
    if (name == known) return simple;
  }
  return Simple::None;
}

template <typename T>
bool OperatorCall::compare(T a, T b, IValue& result) const {
  switch (simple_) {
    case Simple::Eq:
      return result = a == b, true;
    case Simple::Ne:
      return result = a != b, true;
    case Simple::Lt:
      return result = a < b, true;
    case Simple::Gt:
      return result = a > b, true;
    case Simple::Le:
      return result = a <= b, true;
    case Simple::Ge:
      return result = a >= b, true;
    default:
      return false;
  }
}

bool OperatorCall::of_ints(int64_t a, int64_t b, IValue& result) const {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);  // sums wrap around
  switch (simple_) {
    case Simple::Add:
      return result = static_cast<int64_t>(x + y), true;
    case Simple::Sub:
      return result = static_cast<int64_t>(x - y), true;
    case Simple::Mul:
      return result = static_cast<int64_t>(x * y), true;
    case Simple::Remainder:
      return a >= 0 && b > 0 && (result = a % b, true);
    default:
      return compare(a, b, result);
  }
}

bool OperatorCall::of_floats(double a, double b, IValue& result) const {
  switch (simple_) {
    case Simple::Add:
      return result = a + b, true;
    case Simple::Sub:
      return result = a - b, true;
    case Simple::Mul:
      return result = a * b, true;
    default:
      return compare(a, b, result);
  }
}

bool OperatorCall::of_numbers(const IValue& a, const IValue& b, IValue& result) const {
  if (simple_ == Simple::None) return false;
  if (a.isInt() && b.isInt()) return of_ints(a.toInt(), b.toInt(), result);
  if (a.isDouble() && b.isDouble()) return of_floats(a.toDouble(), b.toDouble(), result);
  return false;
}

bool OperatorCall::known() const { return builtins_ || !candidates_of(name_).empty(); }

const Plan* OperatorCall::remembered(const Kinds& kinds) const {
  for (const Entry* entry = entries_.load(std::memory_order_acquire); entry; entry = entry->next) {
    if (entry->kinds == kinds) return &entry->plan;
  }
  return nullptr;
}

IValue OperatorCall::call(Values& arguments) const {
  IValue result;
  if (builtins_ && names_.empty() && builtins_->run(arguments, result)) return result;
  if (builtins_ && !names_.empty()) {
    Values placed = in_their_places(arguments);
    if (!placed.empty() && builtins_->run(placed, result)) return result;
  }
  Kinds kinds{};
  bool remember = arguments.size() < kMostKinds;
  kinds[kMostKinds - 1] = static_cast<uint8_t>(arguments.size());
  for (size_t i = 0; remember && i < arguments.size(); ++i) {
    kinds[i] = kind_of(arguments[i]);
    remember = kinds[i] != kOther;
  }
  if (remember) {
    if (const Plan* plan = remembered(kinds)) return run(*plan, arguments);
  }
  return find_and_call(arguments, kinds, remember);
}

/// The arguments as if none had a name, None where there is no argument; nothing where a place has two.
Values OperatorCall::in_their_places(const Values& arguments) const {
  const size_t by_place = arguments.size() - names_.size();
  Values placed(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(by_place));
  for (size_t i = 0; i < names_.size(); ++i) {
    const size_t at = (*places_)[i];
    if (at < by_place) return {};
    if (at >= placed.size()) placed.resize(at + 1);
    placed[at] = arguments[by_place + i];
  }
  return placed;
}

IValue OperatorCall::find_and_call(Values& arguments, const Kinds& kinds, bool remember) const {
  constexpr size_t kMostEntries = 8;
  if (is_refused(name_)) throw NotImplementedError("[TorchScript] " + name_ + " may not be called from code");
  const std::vector<Candidate> candidates = candidates_of(name_);
  std::optional<Plan> plan = match(candidates, arguments, names_);
  if (!plan) fail(arguments, candidates);
  if (!remember) return run(*plan, arguments);
  {
    const std::lock_guard lock(mutex_);
    if (owned_.size() < kMostEntries) {
      auto entry = std::make_unique<Entry>(Entry{kinds, *plan, entries_.load()});
      entries_.store(entry.get(), std::memory_order_release);
      owned_.push_back(std::move(entry));
    }
  }
  return run(*plan, arguments);
}

IValue OperatorCall::run(const Plan& plan, Values& arguments) const {
  const auto& parameters = plan.candidate.schema->arguments();
  if (plan.plain) {
    for (size_t i = arguments.size(); i < parameters.size(); ++i) arguments.push_back(*parameters[i].default_value());
  } else {
    Values stack;
    stack.reserve(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Plan::Source& source = plan.sources[i];
      if (source.argument < 0) {
        stack.push_back(*parameters[i].default_value());
      } else if (source.conversion == Conversion::Varargs) {
        stack.push_back(arguments_as_list(arguments, source));
      } else {
        stack.push_back(convert(arguments[static_cast<size_t>(source.argument)], source));
      }
    }
    arguments.swap(stack);
  }
  if (plan.candidate.run) {
    plan.candidate.run(arguments);
  } else {
    plan.candidate.op->callBoxed(arguments);
  }
  if (plan.results == 1) return std::move(arguments.back());
  if (plan.results == 0) return IValue();
  return IValue(ivalue::TupleData::create(std::move(arguments)));
}

void OperatorCall::fail(const Values& arguments, const std::vector<Candidate>& candidates) const {
  std::string given;
  const size_t by_place = arguments.size() - names_.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) given += ", ";
    if (i >= by_place) given += names_[i - by_place] + "=";
    given += arguments[i].type()->annotation_str();
  }
  if (candidates.empty()) {
    hb::detail::fail<NotImplementedError>("[TorchScript] ", name_, "(", given, "): ",
                                          builtins_ ? "the arguments are of kinds that the function does not take"
                                                    : "Halfbridge has no function of this name");
  }
  std::string known;
  for (const Candidate& candidate : candidates) known += "\n  " + toString(*candidate.schema);
  hb::detail::fail<Error>("[TorchScript] ", name_, "(", given,
                          "): Arguments for call are not valid. The following variants are available:", known);
}

}  // namespace hb::bridge::script

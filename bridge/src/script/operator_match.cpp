// Which overload the arguments of a call fit.
#include <algorithm>

#include <halfbridge/error.h>

#include "dispatch/schema_types.h"
#include "script/operator_call.h"

namespace hb::bridge::script {
namespace {

// A type of a schema, taken apart.
struct Wanted {
  const Type* base;  // of the elements for a list
  bool optional = false, list = false, optional_items = false;
};

bool take_wrapper(const Type*& type, TypeKind kind) {
  if (type->kind() != kind) return false;
  type = type->containedTypes()[0].get();
  return true;
}

Wanted wanted_of(const Type& type) {
  Wanted wanted{&type};
  wanted.optional = take_wrapper(wanted.base, TypeKind::OptionalType);
  wanted.list = take_wrapper(wanted.base, TypeKind::ListType);
  if (wanted.list) wanted.optional_items = take_wrapper(wanted.base, TypeKind::OptionalType);
  return wanted;
}

bool exact(const IValue& value, const Type& base) {
  switch (base.kind()) {
    case TypeKind::DictType:
      return value.isGenericDict();
    case TypeKind::TupleType:
      return value.isTuple();
    case TypeKind::StorageType:
    case TypeKind::StreamObjType:
    case TypeKind::NoneType:
      return false;
    case TypeKind::NumberType:
      return value.isScalar() && !value.isBool();
    default:
      return value_fits(value, base);
  }
}

bool items_fit(const std::vector<IValue>& items, const Wanted& wanted) {
  return std::all_of(items.begin(), items.end(), [&](const IValue& item) {
    return (wanted.optional_items && item.isNone()) || exact(item, *wanted.base);
  });
}

// What one value becomes for a parameter that is no list.
std::optional<Conversion> converted(const IValue& value, TypeKind base, Conversions allowed) {
  if (allowed == Conversions::None) return std::nullopt;
  // As in LibTorch: mask + True is a tensor of integers.
  if (value.isBool() && base == TypeKind::NumberType) return Conversion::BoolToInt;
  if (allowed == Conversions::Plain) return std::nullopt;
  if (value.isTensor()) {
    if (base == TypeKind::IntType) return Conversion::TensorToInt;
    if (base == TypeKind::FloatType) return Conversion::TensorToFloat;
    if (base == TypeKind::BoolType) return Conversion::TensorToBool;
    if (base == TypeKind::NumberType) return Conversion::TensorToScalar;
  }
  if (value.isInt() && base == TypeKind::FloatType) return Conversion::IntToFloat;
  if (is_real(value) && base == TypeKind::ComplexType) return Conversion::ToComplex;
  if (value.isScalar() && base == TypeKind::TensorType) return Conversion::ToTensor;
  if (value.isString() && base == TypeKind::DeviceObjType) return Conversion::ToDevice;
  return std::nullopt;
}

bool is_dtype(const Argument& parameter) {
  const Type* type = parameter.real_type().get();
  take_wrapper(type, TypeKind::OptionalType);
  return type->kind() == TypeKind::ScalarTypeType;
}

class Matcher {
 public:
  Matcher(const FunctionSchema& schema, const Values& arguments, const std::vector<std::string>& names,
          Conversions allowed)
      : schema_(schema),
        arguments_(arguments),
        names_(names),
        allowed_(allowed),
        by_place_(arguments.size() - names.size()) {}

  std::optional<std::vector<Plan::Source>> run() {
    const auto& parameters = schema_.arguments();
    size_t used = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (next_ < by_place_ && !parameters[i].kwarg_only()) {
        if (!by_place(i)) return std::nullopt;
        continue;
      }
      const auto named = std::find(names_.begin(), names_.end(), parameters[i].name());
      if (named != names_.end()) {
        const size_t at = by_place_ + static_cast<size_t>(named - names_.begin());
        if (!add(parameters[i], at)) return std::nullopt;
        ++used;
      } else if (parameters[i].default_value()) {
        sources_.push_back({});
      } else {
        return std::nullopt;
      }
    }
    if (next_ != by_place_ || used != names_.size()) return std::nullopt;
    return std::move(sources_);
  }

 private:
  bool by_place(size_t i) {
    const auto& parameters = schema_.arguments();
    // view(2, 3): all numbers that are left are one list.
    const Wanted wanted = wanted_of(*parameters[i].type());
    const bool last = i + 1 == parameters.size() || parameters[i + 1].kwarg_only();
    if (allowed_ == Conversions::All && last && wanted.list && !parameters[i].N() && !arguments_[next_].isList()) {
      const std::vector<IValue> rest(arguments_.begin() + static_cast<std::ptrdiff_t>(next_),
                                     arguments_.begin() + static_cast<std::ptrdiff_t>(by_place_));
      if (items_fit(rest, wanted)) {
        sources_.push_back({static_cast<int>(next_), Conversion::Varargs, static_cast<int32_t>(rest.size())});
        next_ = by_place_;
        return true;
      }
    }
    return add(parameters[i], next_++);
  }

  bool add(const Argument& parameter, size_t at) {
    const Wanted wanted = wanted_of(*parameter.type());
    const IValue& value = arguments_[at];
    Plan::Source source{static_cast<int>(at)};
    if (!fits(parameter, wanted, value, source)) return false;
    sources_.push_back(source);
    return true;
  }

  bool fits(const Argument& parameter, const Wanted& wanted, const IValue& value, Plan::Source& source) const {
    if (wanted.base->kind() == TypeKind::AnyType && !wanted.list) return true;
    if (value.isNone()) return wanted.optional;
    if (!wanted.list) {
      const bool dtype = is_dtype(parameter) && value.isInt();
      if (!dtype && exact(value, *wanted.base)) return true;
      const auto conversion = dtype ? as_dtype() : converted(value, wanted.base->kind(), allowed_);
      if (!conversion) return false;
      source.conversion = *conversion;
      return true;
    }
    if (value.isList()) return items_fit(value.toListRef(), wanted);
    if (value.isTuple() && allowed_ == Conversions::All) {
      source.conversion = Conversion::TupleToList;
      return items_fit(value.toTupleRef().elements(), wanted);
    }
    if (!parameter.N() || !exact(value, *wanted.base)) return false;
    source.conversion = Conversion::Repeat;
    source.count = *parameter.N();
    return true;
  }

  // view(3) is about sizes: where a number could be either, it is no dtype.
  std::optional<Conversion> as_dtype() const {
    if (allowed_ != Conversions::All) return std::nullopt;
    return Conversion::ToDtype;
  }

  const FunctionSchema& schema_;
  const Values& arguments_;
  const std::vector<std::string>& names_;
  Conversions allowed_;
  size_t by_place_, next_ = 0;
  std::vector<Plan::Source> sources_;
};

bool is_plain(const Plan& plan, size_t arguments) {
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const auto& source = plan.sources[i];
    if (source.conversion != Conversion::None) return false;
    if (source.argument != (i < arguments ? static_cast<int>(i) : -1)) return false;
  }
  return plan.sources.size() >= arguments;
}

}  // namespace

std::optional<Plan> match(const std::vector<Candidate>& candidates, const Values& arguments,
                          const std::vector<std::string>& names) {
  for (const Conversions allowed : {Conversions::None, Conversions::Plain, Conversions::All}) {
    for (const Candidate& candidate : candidates) {
      auto sources = Matcher(*candidate.schema, arguments, names, allowed).run();
      if (!sources) continue;
      Plan plan{candidate, std::move(*sources), candidate.run ? 1 : candidate.schema->returns().size()};
      plan.plain = is_plain(plan, arguments.size());
      return plan;
    }
  }
  return std::nullopt;
}

}  // namespace hb::bridge::script

// What several types have in common, and what variables stand for.
#include <algorithm>
#include <ostream>

#include <halfbridge/grad_mode.h>
#include <halfbridge/tensor_type.h>
#include <halfbridge/type_tree.h>

#include "io/types/type_maker.h"

namespace hb {
namespace {

std::optional<TypePtr> unified(const TypePtr& a, const TypePtr& b, bool to_union, const TypePtr& hint);

std::optional<TypePtr> unified_tuples(const TypePtr& a, const TypePtr& b, const TypePtr& hint) {
  const auto x = a->containedTypes(), y = b->containedTypes();
  if (x.size() != y.size()) return std::nullopt;
  const auto* wanted = hint ? hint->castRaw<TupleType>() : nullptr;
  std::vector<TypePtr> elements;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool known = wanted && wanted->elements().size() == x.size();
    const auto element = unified(x[i], y[i], false, known ? wanted->elements()[i] : nullptr);
    if (!element) return std::nullopt;
    elements.push_back(*element);
  }
  return TupleType::create(std::move(elements));
}

std::optional<TypePtr> as_optional(const TypePtr& a, const TypePtr& b) {
  if (a->kind() != TypeKind::OptionalType) return std::nullopt;
  const bool both = b->kind() == TypeKind::OptionalType;
  const auto inner = unified(a->containedType(0), both ? b->containedType(0) : b, false, nullptr);
  if (!inner) return std::nullopt;
  return OptionalType::create(*inner);
}

std::optional<TypePtr> unified_plainly(const TypePtr& a, const TypePtr& b, const TypePtr& hint) {
  if (a->isSubtypeOf(*b)) return b;
  if (b->isSubtypeOf(*a)) return a;
  if (a->kind() == TypeKind::TensorType && b->kind() == TypeKind::TensorType)
    return a->expect<TensorType>()->merge(*b->expect<TensorType>());
  if (a->kind() == TypeKind::NoneType) return OptionalType::create(b);
  if (b->kind() == TypeKind::NoneType) return OptionalType::create(a);
  if (auto made = as_optional(a, b)) return made;
  if (auto made = as_optional(b, a)) return made;
  if (a->kind() != b->kind()) return std::nullopt;
  if (a->kind() == TypeKind::TupleType) return unified_tuples(a, b, hint);
  if (a->kind() == TypeKind::FutureType) {
    if (const auto inner = unified(a->containedType(0), b->containedType(0), false, nullptr))
      return FutureType::create(*inner);
  }
  return std::nullopt;
}

std::optional<TypePtr> unified(const TypePtr& a, const TypePtr& b, bool to_union, const TypePtr& hint) {
  auto found = unified_plainly(a, b, hint);
  if (found) return found;
  // What is wanted may be a union or an interface that both fit.
  if (hint && a->isSubtypeOf(*hint) && b->isSubtypeOf(*hint)) return hint;
  if (to_union) return detail::TypeMaker::union_of({a, b});
  return std::nullopt;
}

}  // namespace

std::optional<TypePtr> unifyTypes(const TypePtr& a, const TypePtr& b, bool default_to_union, const TypePtr& hint) {
  return unified(a, b, default_to_union, hint);
}

std::optional<TypePtr> unifyTypeList(ArrayRef<TypePtr> elements, std::ostream& why_not, bool default_to_union,
                                     const TypePtr& hint) {
  if (elements.empty()) {
    why_not << "Cannot get unified type from empty list";
    return std::nullopt;
  }
  TypePtr found = elements[0];
  for (size_t i = 1; i < elements.size(); ++i) {
    const auto both = unifyTypes(found, elements[i], default_to_union, hint);
    if (!both) {
      why_not << "Could not unify type list since element " << i << " of type " << elements[i]->repr_str()
              << " did not match the types before it (" << found->repr_str() << ")";
      return std::nullopt;
    }
    found = *both;
  }
  return found;
}

bool elementTypeCanBeInferredFromMembers(const TypePtr& element) {
  switch (element->kind()) {
    case TypeKind::UnionType:
    case TypeKind::OptionalType:
    case TypeKind::NumberType:
    case TypeKind::InterfaceType:
    case TypeKind::AnyType:
      return false;
    default:
      return true;
  }
}

bool containsAnyType(const TypePtr& type) {
  const auto inside = type->containedTypes();
  return type->kind() == TypeKind::AnyType || std::any_of(inside.begin(), inside.end(), containsAnyType);
}

std::optional<ScalarType> tryScalarTypeFromJitType(const Type& type) {
  switch (type.kind()) {
    case TypeKind::FloatType:
      return get_default_dtype().toScalarType();
    case TypeKind::IntType:
      return kLong;
    case TypeKind::BoolType:
      return kBool;
    default:
      return std::nullopt;
  }
}
ScalarType scalarTypeFromJitType(const Type& type) {
  const auto found = tryScalarTypeFromJitType(type);
  HB_CHECK(found, "Add new condition, expected Float, Complex, Int, or Bool but got", type.str());
  return *found;
}

// --- variables

MatchTypeReturn matchTypeVariables(const TypePtr& formal, const TypePtr& actual, TypeEnv& variables) {
  if (!formal->hasFreeVariables()) {
    if (actual->isSubtypeOf(*formal)) return MatchTypeReturn::Success();
    return "Cannot match " + formal->repr_str() + " to " + actual->repr_str();
  }
  if (const auto* variable = formal->castRaw<VarType>()) {
    TypePtr& known = variables[variable->name()];
    if (!known) {
      known = actual;
      return MatchTypeReturn::Success();
    }
    const auto both = unifyTypes(known, actual);
    if (both && **both == *known) return MatchTypeReturn::Success();
    return "Type variable '" + variable->name() + "' previously matched to type " + known->repr_str() +
           " is matched to type " + actual->repr_str();
  }
  if (formal->kind() == TypeKind::OptionalType && actual->kind() != TypeKind::OptionalType) {
    if (actual->kind() == TypeKind::NoneType) return MatchTypeReturn::Success();
    return matchTypeVariables(formal->containedType(0), actual, variables);
  }
  if (formal->kind() != actual->kind() || formal->containedTypeSize() != actual->containedTypeSize())
    return "Cannot match " + formal->repr_str() + " to " + actual->repr_str();
  for (size_t i = 0; i < formal->containedTypeSize(); ++i) {
    auto inside = matchTypeVariables(formal->containedType(i), actual->containedType(i), variables);
    if (!inside.success()) return inside;
  }
  return MatchTypeReturn::Success();
}

TypePtr tryEvalTypeVariables(const TypePtr& type, TypeEnv& variables) {
  if (!type->hasFreeVariables()) return type;
  if (const auto* variable = type->castRaw<VarType>()) {
    const auto found = variables.find(variable->name());
    return found == variables.end() ? nullptr : found->second;
  }
  std::vector<TypePtr> inside;
  for (const TypePtr& one : type->containedTypes()) {
    TypePtr known = tryEvalTypeVariables(one, variables);
    if (!known) return nullptr;
    inside.push_back(std::move(known));
  }
  return type->withContained(std::move(inside));
}

}  // namespace hb

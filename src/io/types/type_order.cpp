// Which types are equal, and which stand for others.
#include <algorithm>
#include <ostream>

#include <halfbridge/class_type.h>
#include <halfbridge/tensor_type.h>

#include "core/stack.h"
#include "io/types/type_maker.h"

namespace hb {
namespace {

using Types = std::vector<TypePtr>;

bool all_equal(const Type& left, const Type& right) {
  const auto a = left.containedTypes(), b = right.containedTypes();
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const TypePtr& x, const TypePtr& y) { return *x == *y; });
}

bool same_members(const Types& left, const Types& right) {
  const auto holds = [](const Types& all, const TypePtr& one) {
    return std::any_of(all.begin(), all.end(), [&](const TypePtr& type) { return *type == *one; });
  };
  return left.size() == right.size() &&
         std::all_of(left.begin(), left.end(), [&](const TypePtr& type) { return holds(right, type); });
}

// The members of unions and optional types; a number is one of its three kinds.
void take_apart(const TypePtr& type, Types& members) {
  if (type->kind() == TypeKind::OptionalType) {
    take_apart(type->containedType(0), members);
    members.push_back(NoneType::get());
  } else if (type->kind() == TypeKind::UnionType) {
    for (const TypePtr& member : type->containedTypes()) take_apart(member, members);
  } else if (type->kind() == TypeKind::NumberType) {
    members.insert(members.end(), {IntType::get(), FloatType::get(), ComplexType::get()});
  } else {
    members.push_back(type);
  }
}

// Without those that another one covers, in the order of kinds.
Types members_of(const Types& types) {
  Types all, kept;
  for (const TypePtr& type : types) take_apart(type, all);
  for (const TypePtr& type : all) {
    if (std::any_of(kept.begin(), kept.end(), [&](const TypePtr& other) { return type->isSubtypeOf(*other); }))
      continue;
    kept.erase(std::remove_if(kept.begin(), kept.end(), [&](const TypePtr& o) { return o->isSubtypeOf(*type); }),
               kept.end());
    kept.push_back(type);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const TypePtr& a, const TypePtr& b) { return a->kind() < b->kind(); });
  return kept;
}

bool is_number_union(const Types& members) {
  return members.size() == 3 && std::all_of(members.begin(), members.end(),
                                            [](const TypePtr& type) { return type->isSubtypeOf(*NumberType::get()); });
}

// One of the union's own members, or a type all of whose members it holds.
bool union_holds(const Type& holder, const Type& type) {
  const auto held = holder.containedTypes();
  const auto holds = [&](const Type& one) {
    return std::any_of(held.begin(), held.end(), [&](const TypePtr& member) { return one.isSubtypeOf(*member); });
  };
  if (type.kind() == TypeKind::NumberType) {
    return holds(type) || (holds(*IntType::get()) && holds(*FloatType::get()) && holds(*ComplexType::get()));
  }
  return holds(type);
}

bool equal_unions(const Type& left, const Type& right) {
  Types a, b;
  for (const auto& [type, members] : {std::pair(&left, &a), std::pair(&right, &b)}) {
    take_apart(std::const_pointer_cast<Type>(type->shared_from_this()), *members);
  }
  return same_members(a, b);
}

// Elements may be narrower, and a NamedTuple stands for a tuple.
bool tuple_fits(const TupleType& type, const TupleType& wanted) {
  const auto a = type.elements(), b = wanted.elements();
  if (a.size() != b.size()) return false;
  if (wanted.names() && type.names() != wanted.names()) return false;
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](const TypePtr& x, const TypePtr& y) { return x->isSubtypeOf(*y); });
}

// What kinds allow beyond equality.
bool kind_fits(const Type& type, const Type& wanted) {
  switch (type.kind()) {
    case TypeKind::IntType:
    case TypeKind::FloatType:
    case TypeKind::ComplexType:
      return wanted.kind() == TypeKind::NumberType;
    case TypeKind::ListType:
      return wanted.kind() == TypeKind::AnyListType;
    case TypeKind::EnumType:
      return wanted.kind() == TypeKind::AnyEnumType;
    case TypeKind::ClassType:
      return wanted.kind() == TypeKind::AnyClassType;
    case TypeKind::FutureType:
    case TypeKind::AwaitType:
      return wanted.kind() == type.kind() && type.containedType(0)->isSubtypeOf(*wanted.containedType(0));
    case TypeKind::TupleType:
      if (wanted.kind() == TypeKind::AnyTupleType) return true;
      return wanted.kind() == TypeKind::TupleType &&
             tuple_fits(*type.castRaw<TupleType>(), *wanted.castRaw<TupleType>());
    case TypeKind::TensorType: {
      const auto* other = wanted.castRaw<TensorType>();
      return other && *type.castRaw<TensorType>()->merge(*other) == wanted;
    }
    default:
      return false;
  }
}

bool fits(const Type& type, const Type& wanted) {
  if (&type == &wanted || wanted.kind() == TypeKind::AnyType || type == wanted || kind_fits(type, wanted)) return true;
  if (type.kind() == TypeKind::OptionalType || type.kind() == TypeKind::UnionType) {
    const auto members = type.containedTypes();
    const bool none = type.kind() == TypeKind::UnionType || NoneType::get()->isSubtypeOf(wanted);
    if (wanted.isUnionType() && none &&
        std::all_of(members.begin(), members.end(), [&](const TypePtr& one) { return one->isSubtypeOf(wanted); }))
      return true;
  }
  if (wanted.kind() == TypeKind::OptionalType) {
    return type.kind() == TypeKind::NoneType || type.isSubtypeOf(*wanted.containedType(0));
  }
  return wanted.kind() == TypeKind::UnionType && union_holds(wanted, type);
}

}  // namespace

bool operator==(const Type& left, const Type& right) {
  if (&left == &right) return true;
  const bool unions = left.isUnionType() || right.isUnionType();
  if (unions && left.kind() != right.kind()) return equal_unions(left, right);
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case TypeKind::UnionType:
      return equal_unions(left, right);
    case TypeKind::TensorType:
      return left.castRaw<TensorType>()->same(*right.castRaw<TensorType>());
    case TypeKind::FunctionType:
      return left.castRaw<FunctionType>()->function() == right.castRaw<FunctionType>()->function();
    case TypeKind::VarType:
      return left.castRaw<VarType>()->name() == right.castRaw<VarType>()->name();
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
    case TypeKind::EnumType:
      return left.castRaw<NamedType>()->name() == right.castRaw<NamedType>()->name();
    case TypeKind::TupleType: {
      const auto &a = *left.castRaw<TupleType>(), &b = *right.castRaw<TupleType>();
      if (a.name() != b.name() || a.names() != b.names()) return false;
      break;
    }
    default:
      break;
  }
  return detail::with_stack([&] { return all_equal(left, right); });
}

bool Type::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  const bool is = detail::with_stack([&] { return fits(*this, rhs); });
  const auto *mine = castRaw<TupleType>(), *wanted = rhs.castRaw<TupleType>();
  if (!is && why_not && mine && wanted && wanted->names() && mine->names() != wanted->names())
    *why_not << "the names of the fields differ";
  return is;
}

// --- unions

TypePtr detail::TypeMaker::union_of(const std::vector<TypePtr>& types) {
  Types members = members_of(types);
  if (members.size() == 1) return members[0];
  const auto none = std::find_if(members.begin(), members.end(),
                                 [](const TypePtr& type) { return type->kind() == TypeKind::NoneType; });
  if (none != members.end()) {
    Types rest = members;
    rest.erase(rest.begin() + (none - members.begin()));
    if (rest.size() == 1) return OptionalType::create(rest[0]);
    if (is_number_union(rest)) return OptionalType::create(NumberType::get());
  }
  return make<UnionType>(TypeKind::UnionType, std::move(members));
}

UnionTypePtr UnionType::create(std::vector<TypePtr> types) {
  HB_CHECK(!types.empty(), "Cannot create an empty Union");
  const TypePtr made = detail::TypeMaker::union_of(types);
  if (made->isUnionType()) return std::static_pointer_cast<UnionType>(made);
  std::string given;
  for (const TypePtr& type : types) given += type->repr_str() + " ";
  throw Error("After type unification was performed, the Union with the original types {" + given +
              "} has the single type " + made->repr_str() + ". Use the common supertype instead of creating a Union");
}

bool UnionType::canHoldType(const Type& type) const { return type.isSubtypeOf(*this); }

std::optional<TypePtr> UnionType::toOptional() const {
  const TypePtr made = detail::TypeMaker::union_of(contained_);
  const TypePtr whole =
      kind() == TypeKind::OptionalType ? std::const_pointer_cast<Type>(this->shared_from_this()) : made;
  if (whole->kind() == TypeKind::OptionalType) return whole;
  return std::nullopt;
}

}  // namespace hb

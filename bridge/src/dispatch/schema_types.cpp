#include "dispatch/schema_types.h"

#include <algorithm>
#include <vector>

#include <halfbridge/type_tree.h>

namespace hb::bridge {
namespace {

bool all_fit(const std::vector<IValue>& items, const Type& type) {
  return std::all_of(items.begin(), items.end(), [&](const IValue& item) { return value_fits(item, type); });
}

bool tuple_fits(const IValue& value, const Type& type) {
  if (!value.isTuple()) return false;
  const auto types = type.containedTypes();
  const auto& items = value.toTupleRef().elements();
  if (items.size() != types.size()) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!value_fits(items[i], *types[i])) return false;
  }
  return true;
}

bool dict_fits(const IValue& value, const Type& type) {
  if (!value.isGenericDict()) return false;
  const Type &key = *type.containedTypes()[0], &mapped = *type.containedTypes()[1];
  const auto& entries = value.toGenericDict().data()->entries;
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return value_fits(entry.first, key) && value_fits(entry.second, mapped);
  });
}

// Of archives' classes, interfaces and NamedTuples only LibTorch knows what stands for what.
bool class_fits(const IValue& value, const std::string& name) {
  if (name.compare(0, 24, "__torch__.torch.classes.") != 0) return true;
  return value.isObject() && value.toObject()->class_name == name;
}

}  // namespace

TypePtr held_type(const TypePtr& type) {
  switch (type->kind()) {
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::QSchemeType:
    case TypeKind::SymIntType:
      return IntType::get();
    case TypeKind::SymFloatType:
      return FloatType::get();
    case TypeKind::SymBoolType:
      return BoolType::get();
    case TypeKind::ClassType:
      return type;
    default:
      break;
  }
  if (type->containedTypes().empty()) return type;
  std::vector<TypePtr> inside;
  for (const TypePtr& one : type->containedTypes()) inside.push_back(held_type(one));
  return type->withContained(std::move(inside));
}

bool value_fits(const IValue& value, const Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return value.isTensor();
    case TypeKind::IntType:
      return value.isInt();
    case TypeKind::FloatType:
      return value.isDouble();
    case TypeKind::BoolType:
      return value.isBool();
    case TypeKind::StringType:
      return value.isString();
    case TypeKind::NumberType:
      return value.isScalar();
    case TypeKind::ComplexType:
      return value.isComplexDouble();
    case TypeKind::DeviceObjType:
      return value.isDevice();
    case TypeKind::GeneratorType:
      return value.isGenerator();
    case TypeKind::NoneType:
      return value.isNone();
    case TypeKind::OptionalType:
      return value.isNone() || value_fits(value, *type.containedTypes()[0]);
    case TypeKind::UnionType: {
      const auto types = type.containedTypes();
      return std::any_of(types.begin(), types.end(), [&](const TypePtr& one) { return value_fits(value, *one); });
    }
    case TypeKind::ListType:
      return value.isList() && all_fit(value.toListRef(), *type.containedTypes()[0]);
    case TypeKind::DictType:
      return dict_fits(value, type);
    case TypeKind::TupleType:
      return tuple_fits(value, type);
    case TypeKind::ClassType:
      return class_fits(value, type.castRaw<NamedType>()->name()->qualifiedName());
    case TypeKind::AnyListType:
      return value.isList();
    case TypeKind::AnyTupleType:
      return value.isTuple();
    case TypeKind::FutureType:
      return value.isFuture();
    case TypeKind::StorageType:
      return value.isStorage();
    case TypeKind::StreamObjType:
      return value.isStream();
    default:
      return true;
  }
}

}  // namespace hb::bridge

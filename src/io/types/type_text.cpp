// How types are written.
#include <ostream>

#include <halfbridge/class_type.h>
#include <halfbridge/tensor_type.h>

#include "core/stack.h"

namespace hb {
namespace {

// As schemas and most code write it.
const char* simple_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::AnyType:
      return "Any";
    case TypeKind::TensorType:
      return "Tensor";
    case TypeKind::StorageType:
      return "Storage";
    case TypeKind::NumberType:
      return "Scalar";
    case TypeKind::FloatType:
      return "float";
    case TypeKind::ComplexType:
      return "complex";
    case TypeKind::IntType:
      return "int";
    case TypeKind::StringType:
      return "str";
    case TypeKind::GeneratorType:
      return "Generator";
    case TypeKind::QuantizerType:
      return "Quantizer";
    case TypeKind::BoolType:
      return "bool";
    case TypeKind::DeviceObjType:
      return "Device";
    case TypeKind::StreamObjType:
      return "Stream";
    case TypeKind::FunctionType:
      return "Function";
    case TypeKind::PyObjectType:
      return "PyObject";
    case TypeKind::CapsuleType:
      return "Capsule";
    case TypeKind::QSchemeType:
      return "QScheme";
    case TypeKind::ScalarTypeType:
      return "ScalarType";
    case TypeKind::LayoutType:
      return "Layout";
    case TypeKind::MemoryFormatType:
      return "MemoryFormat";
    case TypeKind::AnyListType:
      return "list";
    case TypeKind::AnyTupleType:
      return "tuple";
    case TypeKind::SymIntType:
      return "SymInt";
    case TypeKind::SymFloatType:
      return "SymFloat";
    case TypeKind::SymBoolType:
      return "SymBool";
    default:
      return typeKindToString(kind);
  }
}

// Where Python has another word.
const char* python_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::NumberType:
      return "number";
    case TypeKind::SymIntType:
      return "int";
    case TypeKind::SymFloatType:
      return "float";
    case TypeKind::SymBoolType:
      return "bool";
    default:
      return simple_name(kind);
  }
}

const char* wrapper_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::ListType:
      return "List";
    case TypeKind::DictType:
      return "Dict";
    case TypeKind::OptionalType:
      return "Optional";
    case TypeKind::TupleType:
      return "Tuple";
    case TypeKind::UnionType:
      return "Union";
    case TypeKind::FutureType:
      return "Future";
    case TypeKind::AwaitType:
      return "Await";
    case TypeKind::RRefType:
      return "RRef";
    default:
      return nullptr;
  }
}

// A union that holds each kind of number names them together.
std::vector<TypePtr> shown_members(const Type& type) {
  std::vector<TypePtr> shown;
  const auto members = type.containedTypes();
  const auto is_number = [](const TypePtr& member) {
    return member->kind() == TypeKind::IntType || member->kind() == TypeKind::FloatType ||
           member->kind() == TypeKind::ComplexType;
  };
  size_t numbers = 0;
  for (const TypePtr& member : members) numbers += is_number(member);
  if (type.kind() != TypeKind::UnionType || numbers < 3) return members.vec();
  for (const TypePtr& member : members) {
    if (!is_number(member)) shown.push_back(member);
  }
  shown.push_back(NumberType::get());
  return shown;
}

class Writer {
 public:
  Writer(bool python, const TypePrinter* printer) : python_(python), printer_(printer) {}

  std::string write(const Type& type) {
    return detail::with_stack([&] {
      if (printer_) {
        if (auto renamed = (*printer_)(type)) return *renamed;
      }
      return usual(type);
    });
  }

 private:
  std::string usual(const Type& type) {
    if (const auto* variable = type.castRaw<VarType>()) return variable->name();
    if (const auto* named = type.castRaw<NamedType>()) {
      if (named->name()) return of_name(*named, *named->name());
    }
    const char* wrapper = wrapper_name(type.kind());
    if (!wrapper) return python_ ? python_name(type.kind()) : simple_name(type.kind());
    const std::string inside = members(type);
    if (python_) return wrapper + ("[" + (inside.empty() ? "()" : inside) + "]");
    if (type.kind() == TypeKind::ListType) return inside + "[]";
    if (type.kind() == TypeKind::OptionalType) return inside + "?";
    return (type.kind() == TypeKind::TupleType ? "" : wrapper) + ("(" + inside + ")");
  }

  std::string of_name(const NamedType& type, const QualifiedName& name) const {
    if (python_) return name.qualifiedName();
    switch (type.kind()) {
      case TypeKind::EnumType:
        return "Enum<" + name.qualifiedName() + ">";
      case TypeKind::InterfaceType:
        return "InterfaceType<" + name.name() + ">";
      case TypeKind::FunctionType:
        return "Function";
      default:
        return name.qualifiedName();
    }
  }

  std::string members(const Type& type) {
    std::string all;
    const char* before = "";
    for (const TypePtr& member : shown_members(type)) {
      all += before + write(*member);
      before = ", ";
    }
    return all;
  }

  bool python_;
  const TypePrinter* printer_;
};

template <class T>
void print_sizes(std::ostream& out, const T& sizes) {
  const char* before = "";
  for (const std::optional<int64_t>& size : sizes) {
    out << before;
    if (size) {
      out << *size;
    } else {
      out << "*";
    }
    before = ", ";
  }
}

void print_tensor(std::ostream& out, const TensorType& type) {
  const auto& sizes = type.sizes().sizes();
  if (type.scalarType()) out << *type.scalarType();
  if (!type.scalarType() || !sizes) out << "Tensor";
  const char* before = "(";
  if (sizes) {
    out << "(";
    print_sizes(out, *sizes);
    const auto& strides = type.strides().sizes();
    if (!sizes->empty() && type.strides().isComplete() && strides->size() == sizes->size()) {
      out << ", strides=[";
      print_sizes(out, *strides);
      out << "]";
    }
    before = sizes->empty() ? "" : ", ";
  }
  if (type.requiresGrad()) {
    out << before << "requires_grad=" << *type.requiresGrad();
    before = ", ";
  }
  if (type.device()) {
    out << before << "device=" << *type.device();
    before = ", ";
  }
  if (sizes || before[0] == ',') out << ")";
  if (type.undefined().value_or(false)) out << "[Undefined]";
}

void print_tuple(std::ostream& out, const TupleType& type) {
  const auto names = type.name() ? type.names() : std::nullopt;
  out << (names ? "NamedTuple(" : "(");
  for (size_t i = 0; i < type.elements().size(); ++i) {
    out << (i ? ", " : "");
    if (names) out << (*names)[i] << " : ";
    out << *type.elements()[i];
  }
  out << ")";
}

void print(std::ostream& out, const Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return print_tensor(out, *type.castRaw<TensorType>());
    case TypeKind::TupleType:
      return print_tuple(out, *type.castRaw<TupleType>());
    case TypeKind::ListType:
      out << *type.containedType(0) << "[]";
      return;
    case TypeKind::OptionalType:
      out << *type.containedType(0) << "?";
      return;
    case TypeKind::FutureType:
    case TypeKind::RRefType:
      out << wrapper_name(type.kind()) << "[" << *type.containedType(0) << "]";
      return;
    default:
      out << type.str();
  }
}

}  // namespace

std::string Type::str() const { return Writer(false, nullptr).write(*this); }
std::string Type::annotation_str() const { return Writer(true, nullptr).write(*this); }
std::string Type::annotation_str(const TypePrinter& printer) const {
  return Writer(true, printer ? &printer : nullptr).write(*this);
}
std::string Type::repr_str() const {
  if (const auto* tensor = castRaw<TensorType>(); tensor && tensor->isInferredType()) return "Tensor (inferred)";
  return kind_ == TypeKind::EnumType ? str() : annotation_str();
}

std::ostream& operator<<(std::ostream& out, const Type& type) {
  detail::with_stack([&] { print(out, type); });
  return out;
}
std::string toString(const Type& type) { return type.str(); }
std::string toString(const TypePtr& type) { return type->str(); }

}  // namespace hb

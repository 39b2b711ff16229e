// The types of objects: of classes that an archive's code declares, or that the program registered or made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/type_tree.h>

namespace hb {

namespace ivalue {
struct ObjectData;
/// The methods of a class that has code.
struct HB_API ClassMethods {
  virtual ~ClassMethods();
  /// Null where there is none.
  virtual bridge::jit::Function* find(const std::string& name) = 0;
  virtual std::vector<bridge::jit::Function*> all() = 0;
};
}  // namespace ivalue

enum class AttributeKind { BUFFER, PARAMETER, REGULAR_ATTRIBUTE };

/// One attribute that a class declares.
class ClassAttribute {
 public:
  ClassAttribute(AttributeKind kind, TypePtr type, std::string name)
      : kind_(kind), type_(std::move(type)), name_(std::move(name)) {}
  AttributeKind getKind() const { return kind_; }
  const TypePtr& getType() const { return type_; }
  const std::string& getName() const { return name_; }

 private:
  AttributeKind kind_;
  TypePtr type_;
  std::string name_;
};

class ClassType;
using ClassTypePtr = std::shared_ptr<ClassType>;

/// A class: its attributes, constants, methods and properties. Types of one name are equal.
class HB_API ClassType final : public NamedType {
 public:
  using Function = bridge::jit::Function;
  static constexpr TypeKind Kind = TypeKind::ClassType;
  struct Property {
    std::string name;
    Function* getter;
    Function* setter;  // null: cannot be set
  };
  static ClassTypePtr create(std::optional<QualifiedName> name, std::weak_ptr<bridge::jit::CompilationUnit> unit = {},
                             bool is_module = false, std::string doc_string = "");

  const std::string& doc_string() const { return doc_; }
  std::shared_ptr<bridge::jit::CompilationUnit> compilation_unit() const { return unit_.lock(); }

  size_t numAttributes() const { return attributes_.size(); }
  const std::vector<ClassAttribute>& getAttributes() const { return attributes_; }
  bool hasAttribute(const std::string& name) const { return findAttributeSlot(name).has_value(); }
  /// The type of an attribute; null, or an error, where there is none.
  TypePtr findAttribute(const std::string& name) const;
  const TypePtr& getAttribute(const std::string& name) const;
  const TypePtr& getAttribute(size_t slot) const;
  std::string getAttributeName(size_t slot) const;
  std::optional<size_t> findAttributeSlot(const std::string& name) const;
  size_t getAttributeSlot(const std::string& name) const;
  /// Of a module.
  bool is_parameter(size_t slot) const { return has_kind(slot, AttributeKind::PARAMETER); }
  bool is_buffer(size_t slot) const { return has_kind(slot, AttributeKind::BUFFER); }
  /// The place of the new attribute. Objects that are there get none; a parameter or buffer is a tensor or None.
  size_t addAttribute(const std::string& name, TypePtr type, bool is_parameter = false, bool is_buffer = false);
  size_t addOrCheckAttribute(const std::string& name, TypePtr type, bool is_parameter = false, bool is_buffer = false);
  void unsafeRemoveAttribute(const std::string& name);
  void unsafeChangeAttributeType(const std::string& name, const TypePtr& type);

  size_t numConstants() const { return constant_names_.size(); }
  bool hasConstant(const std::string& name) const { return findConstantSlot(name).has_value(); }
  ArrayRef<std::string> constantNames() const { return constant_names_; }
  ArrayRef<IValue> constantValues() const { return constant_values_; }
  size_t addConstant(const std::string& name, const IValue& value);
  std::optional<size_t> findConstantSlot(const std::string& name) const;
  size_t getConstantSlot(const std::string& name) const;
  const std::string& getConstantName(size_t slot) const;
  IValue getConstant(const std::string& name) const { return getConstant(getConstantSlot(name)); }
  IValue getConstant(size_t slot) const;
  std::optional<IValue> findConstant(const std::string& name) const;
  void unsafeRemoveConstant(const std::string& name);

  /// Functions belong to the class. Of an archive's class they are compiled when they are first asked for.
  std::vector<Function*> methods() const;
  Function* findMethod(const std::string& name) const;
  /// Throws where there is no such method.
  Function& getMethod(const std::string& name) const;
  bool hasMethod(const std::string& name) const { return findMethod(name) != nullptr; }
  Function* findStaticMethod(const std::string& name) const;
  std::optional<Property> getProperty(const std::string& name) const;
  const std::vector<Property>& properties() const { return properties_; }

  /// Throw for a name that is taken.
  Function* addMethod(const std::string& name, std::shared_ptr<Function> method);
  Function* addStaticMethod(const std::string& name, std::shared_ptr<Function> method);
  void addProperty(const std::string& name, Function* getter, Function* setter);

 private:
  friend Type;
  friend struct ivalue::ObjectData;
  friend detail::TypeMaker;
  using NamedType::NamedType;
  bool has_kind(size_t slot, AttributeKind kind) const;

  using Methods = std::vector<std::pair<std::string, std::shared_ptr<Function>>>;
  bool is_module_ = false;
  std::string doc_;
  std::weak_ptr<bridge::jit::CompilationUnit> unit_;
  std::vector<ClassAttribute> attributes_;
  std::vector<std::string> constant_names_;
  std::vector<IValue> constant_values_;
  Methods methods_, static_methods_;
  std::shared_ptr<ivalue::ClassMethods> code_;  // an archive's class has its methods there
  std::vector<Property> properties_;
};

}  // namespace hb

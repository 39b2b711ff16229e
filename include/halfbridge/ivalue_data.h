// What strings, lists, tuples, dicts and objects hold. Included by ivalue.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb {
class TupleType;

namespace ivalue {

struct ClassMethods;  // <halfbridge/class_type.h>

struct HB_API StringData {
  StringData() = default;
  explicit StringData(std::string text) : text(std::move(text)) {}
  static std::shared_ptr<StringData> create(std::string text) { return std::make_shared<StringData>(std::move(text)); }
  std::string text;
  const std::string& string() const { return text; }
  std::string_view string_view() const { return text; }
};

struct HB_API ListData {
  ListData() = default;
  ListData(const ListData&) = default;
  ListData& operator=(const ListData&) = default;
  ~ListData();
  TypePtr element_type;
  std::vector<IValue> items;
};

/// What a tuple holds.
struct TupleElements : std::vector<IValue> {
  using std::vector<IValue>::vector;
  TupleElements(std::vector<IValue> items) : std::vector<IValue>(std::move(items)) {}  // NOLINT
  std::vector<IValue> vec() const { return *this; }
  ArrayRef<IValue> asArrayRef() const { return *this; }
};

struct HB_API TupleData {
  TupleData() = default;
  TupleData(const TupleData&) = default;
  TupleData& operator=(const TupleData&) = default;
  ~TupleData();
  TupleElements items;
  const TupleElements& elements() const { return items; }
  void setElements(std::vector<IValue> elements) { items = std::move(elements); }
  size_t size() const { return items.size(); }
  /// A NamedTuple's type, or one of the elements' types.
  std::shared_ptr<TupleType> type() const;
  static std::shared_ptr<TupleData> create(std::vector<IValue> elements);
  static std::shared_ptr<TupleData> createNamed(std::vector<IValue> elements, std::shared_ptr<TupleType> type);
  template <typename... Ts>
  static std::shared_ptr<TupleData> create(Ts&&... elements) {
    return create(std::vector<IValue>{IValue(std::forward<Ts>(elements))...});
  }

 private:
  std::shared_ptr<TupleType> named_type_;
};

/// Keeps insertion order. Keys are None, bool, int, float, string or Device, or a tensor by identity.
struct HB_API DictData {
  DictData() = default;
  DictData(const DictData&) = default;
  DictData& operator=(const DictData&) = default;
  ~DictData();
  TypePtr key_type;
  TypePtr value_type;
  std::vector<std::pair<IValue, IValue>> entries;

  /// The place of a key in `entries`, or the number of entries.
  size_t find(const IValue& key) const;
  void set(IValue key, IValue value);
  bool erase(const IValue& key);
  void clear();

 private:
  std::unordered_multimap<size_t, size_t> index_;  // hash of the key to its place
};

struct ClassData;

/// An object of a TorchScript class: an archive, a scripted module, or one of a class that the program registered.
struct HB_API ObjectData {
  ObjectData() = default;
  ObjectData(const ObjectData&) = default;
  ObjectData& operator=(const ObjectData&) = default;
  ~ObjectData();
  enum class Role { Attribute, Parameter, Buffer };
  struct Attribute {
    std::string name;
    IValue value;
    Role role = Role::Attribute;
  };
  std::string class_name = "__torch__.Module";
  std::vector<Attribute> attributes;
  /// What the archive's code declares; nothing for an archive without code.
  std::shared_ptr<const ClassData> declared;
  std::shared_ptr<ClassType> registered_class;  // and what belongs to it:
  intrusive_ptr<intrusive_ptr_target> capsule;

  /// The class, with its attributes and methods.
  std::shared_ptr<ClassType> type() const;
  const std::string& name() const { return class_name; }

  const Attribute* find(const std::string& name) const;
  /// Adds the attribute or replaces it.
  void set(const std::string& name, IValue value, Role role);

  /// The value of an attribute; throws hb::Error where there is none.
  const IValue& getAttr(const std::string& name) const;
  /// Keeps the role of an attribute that is there.
  void setAttr(const std::string& name, IValue value);

 private:
  std::unordered_map<std::string, size_t> index_;
};

/// What an archive's code declares about a class.
struct ClassData {
  struct Field {
    std::string name;
    TypePtr type;
    ObjectData::Role role = ObjectData::Role::Attribute;
  };
  std::string name;        // "__torch__.Net"
  bool is_module = false;  // class Net(Module)
  std::vector<Field> fields;
  std::vector<std::pair<std::string, std::string>> constants;  // the name, and the value as the code writes it
  std::vector<std::string> methods;
  std::shared_ptr<ClassMethods> code;  // what the methods do; nothing where it was not kept
  /// The type of this class, once it was asked for. Copies are changed: they have another.
  struct Made {
    Made() = default;
    Made(const Made&) {}
    Made& operator=(const Made&) { return *this; }
    std::shared_ptr<ClassType> type;
  };
  mutable Made made;
};
/// A C++ class that values can hold objects of, found by its C++ type and by its name.
struct CustomClass {
  std::string name;                 // "__torch__.torch.classes.ns.Name"
  std::shared_ptr<ClassType> type;  // its methods
  // How objects are saved and made again; empty where the program gave no def_pickle.
  std::function<IValue(const IValue& object)> get_state;
  std::function<void(const IValue& object, IValue state)> set_state;
};
/// Throws where the type or the name is registered already.
HB_API void register_custom_class(const std::type_info& type, std::shared_ptr<CustomClass> custom_class);
HB_API std::shared_ptr<CustomClass> find_custom_class(const std::type_info& type);
HB_API std::shared_ptr<CustomClass> find_custom_class(const std::string& name);
HB_API std::vector<std::string> custom_class_names();
/// An object that holds `capsule`, which is of the registered `type`.
HB_API std::shared_ptr<ObjectData> object_of_class(const std::type_info& type,
                                                   intrusive_ptr<intrusive_ptr_target> capsule);
/// What an object of the registered `type` holds; throws for any other value.
HB_API intrusive_ptr_target* capsule_of(const IValue& value, const std::type_info& type);

}  // namespace ivalue

}  // namespace hb

// Archives of modules as they are now, with the code that they were read with.
#include <unordered_set>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "script/archive.h"
#include "script/unit.h"

namespace hb::bridge::script {
namespace {

constexpr const char* kWhere = "jit.Module.save";

const std::shared_ptr<Unit>& unit_of(const ivalue::ObjectData& module) {
  if (!module.declared || !module.declared->code) {
    io::io_fail(kWhere, "no code of ", module.class_name,
                " is known: save the weights, with hb::io::save_state_dict_file or torch::save of a native module");
  }
  return class_code(*module.declared)->unit;
}

// Throws unless the code of one archive declares all that a value holds.
class Declared {
 public:
  explicit Declared(std::shared_ptr<Unit> unit) : unit_(std::move(unit)) {}

  void check(const IValue& value, int depth = 0) {
    if (depth > kMaxDepth) io::io_fail(kWhere, "expected at most ", kMaxDepth, " levels of nesting, got more");
    if (value.isObject()) {
      const auto object = value.toObject();
      if (!seen_.insert(object.get()).second || object->registered_class) return;
      check_class(*object);
      for (const auto& attribute : object->attributes) check(attribute.value, depth + 1);
    } else if (value.isList() || value.isTuple()) {
      const auto& items = value.isList() ? value.toListRef() : value.toTupleRef().elements();
      for (const IValue& item : items) check(item, depth + 1);
    } else if (value.isGenericDict()) {
      for (const auto& [key, item] : value.toGenericDict().data()->entries) check(item, depth + 1);
    }
  }

 private:
  static constexpr int kMaxDepth = 200;

  void check_class(const ivalue::ObjectData& object) const {
    if (unit_of(object) != unit_) {
      io::io_fail(kWhere, "expected objects of one archive, got one of ", object.class_name, " from another");
    }
    if (!class_code(*object.declared)->added.empty()) {
      io::io_fail(kWhere, object.class_name, " has methods of define(), which are not written");
    }
    // Attributes that the program registered are declared by a class of the object's own, not by the code.
    const ScriptClass* of = unit_->find_class(object.class_name);
    bool same = of && of->syntax->fields.size() == object.attributes.size();
    for (size_t i = 0; same && i < object.attributes.size(); ++i)
      same = object.find(of->syntax->fields[i].first) != nullptr;
    if (!same) io::io_fail(kWhere, object.class_name, " has attributes that its class does not declare");
  }

  const std::shared_ptr<Unit> unit_;
  std::unordered_set<const ivalue::ObjectData*> seen_;
};

}  // namespace

void write_archive(const std::shared_ptr<ivalue::ObjectData>& module,
                   const std::unordered_map<std::string, std::string>& extra, io::ZipWriter& zip) {
  const std::shared_ptr<Unit>& unit = unit_of(*module);
  Declared(unit).check(IValue(module));
  io::ScriptArchive archive{IValue(module), IValue(ivalue::TupleData::create(unit->constants())), unit->files(),
                            unit->version()};
  for (const auto& [name, content] : extra) archive.files.emplace_back("extra/" + name, content);
  io::write_script_archive(archive, zip);
}

}  // namespace hb::bridge::script

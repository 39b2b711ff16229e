#pragma once
// Which classes the objects of a module have in the archive that is written.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "script/class_texts.h"
#include "script/unit.h"

namespace hb::bridge::script {

/// Objects that are all that their archive's code declares keep their class and its text. Others get a class of what
/// they are: the archive's, with lines added, or a new one. Classes of one name and other content get names like
/// LibTorch's ("__torch__.___torch_mangle_0.Net").
class ClassWriter {
 public:
  using Files = std::vector<std::pair<std::string, std::string>>;  // "code/__torch__.py", and its text

  /// Throws hb::Error for what no archive can hold.
  explicit ClassWriter(const std::shared_ptr<ivalue::ObjectData>& root);
  const std::unordered_map<const ivalue::ObjectData*, std::string>& names() const { return names_; }
  /// The archive that the objects are from; null for none.
  const std::shared_ptr<Unit>& archive() const { return archive_; }
  Files files() const;
  /// The texts of the methods that the program added.
  const std::string& added() const { return added_; }

 private:
  void look_at(const IValue& value, int depth);
  void look_at_object(const ivalue::ObjectData& object);
  ScriptClass* base_of(const ivalue::ObjectData& object) const;
  const std::string& name_of(const ivalue::ObjectData& object, int depth);
  std::string written_type(const ivalue::ObjectData& object, const ivalue::ObjectData::Attribute& attribute, int depth);
  void check_kept(const IValue& value, int depth);
  ClassLines lines_for(const ivalue::ObjectData& object, const ScriptClass* base, int depth);
  std::string class_for(const ivalue::ObjectData& object, const ScriptClass* base, const ClassLines& lines);
  std::string free_name(const std::string& class_name, bool in_place);

  std::shared_ptr<Unit> archive_;
  std::set<const ivalue::ObjectData*> seen_;
  std::set<std::string> unchanged_;  // classes of which an object is all that they declare
  std::unordered_map<const ivalue::ObjectData*, std::string> names_;
  std::map<std::string, std::string> by_content_;  // names
  std::map<std::string, std::string> texts_;  // of classes that are written, by name, in the place of the archive's
  std::vector<std::string> order_;            // of these names
  std::string added_;
};

}  // namespace hb::bridge::script

// What the code of a TorchScript archive declares: classes, their attributes, parameters, buffers, constants and names
// of methods. Lines of functions are passed over; who wants to run them gives each class its code.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <halfbridge/ivalue.h>

#include "io/zip_reader.h"

namespace hb::io {

/// Gives what the methods of a class do, for who may run them.
using ClassCodeMaker = std::function<std::shared_ptr<ivalue::ClassMethods>(const std::string& class_name)>;

/// Reads the declarations of an archive's classes, each file when its first class is asked for.
class ScriptCode {
 public:
  /// The archive must outlive the object.
  explicit ScriptCode(const ZipReader& zip, ClassCodeMaker code = nullptr) : zip_(zip), code_(std::move(code)) {}

  /// The class of that qualified name ("__torch__.torch.nn.modules.linear.Linear"), or nothing where the archive has no
  /// code for it. Throws hb::Error for a declaration that is malformed.
  std::shared_ptr<const ivalue::ClassData> find(const std::string& name);

 private:
  void read_file(const std::string& module, const std::string& file);

  const ZipReader& zip_;
  ClassCodeMaker code_;
  std::map<std::string, std::shared_ptr<const ivalue::ClassData>> classes_;
  std::map<std::string, bool> read_;  // files
};

/// The value that a constant's text stands for: numbers, texts, None, and lists and tuples of them. Throws hb::Error
/// for anything else.
IValue value_of_literal(std::string_view text);

}  // namespace hb::io

// What the code of a TorchScript archive declares: classes, their attributes, parameters, buffers, constants and names
// of methods. Lines of functions are passed over: no code is run, kept or understood.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <halfbridge/ivalue.h>

#include "io/zip_reader.h"

namespace hb::io {

/// Reads the declarations of an archive's classes, each file when its first class is asked for.
class ScriptCode {
 public:
  /// The archive must outlive the object.
  explicit ScriptCode(const ZipReader& zip) : zip_(zip) {}

  /// The class of that qualified name ("__torch__.torch.nn.modules.linear.Linear"), or nothing where the archive has no
  /// code for it. Throws hb::Error for a declaration that is malformed.
  std::shared_ptr<const ivalue::ClassData> find(const std::string& name);

 private:
  void read_file(const std::string& module, const std::string& file);

  const ZipReader& zip_;
  std::map<std::string, std::shared_ptr<const ivalue::ClassData>> classes_;
  std::map<std::string, bool> read_;  // files
};

/// The value that a constant's text stands for: numbers, texts, None, and lists and tuples of them. Throws hb::Error
/// for anything else.
IValue value_of_literal(std::string_view text);

}  // namespace hb::io

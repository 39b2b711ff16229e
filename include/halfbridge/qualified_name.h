#pragma once

#include <string>
#include <utility>
#include <vector>

#include <halfbridge/macros.h>

namespace hb {

/// "__torch__.torch.classes.ns.Name" and its parts.
class HB_API QualifiedName {
 public:
  QualifiedName(std::string name);                                       // NOLINT: implicit as in LibTorch
  QualifiedName(const char* name) : QualifiedName(std::string(name)) {}  // NOLINT
  explicit QualifiedName(std::vector<std::string> atoms);
  QualifiedName(const QualifiedName& prefix, std::string name);
  const std::string& qualifiedName() const { return name_; }
  std::string prefix() const;
  std::string name() const;
  std::vector<std::string> atoms() const;
  /// Whether the other name is this one or stands below it.
  bool isPrefixOf(const QualifiedName& other) const;
  bool operator==(const QualifiedName& other) const { return name_ == other.name_; }
  bool operator!=(const QualifiedName& other) const { return name_ != other.name_; }

 private:
  std::string name_;
};

}  // namespace hb

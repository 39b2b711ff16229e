// Names of parameters in two files or programs: rules that rename them, and which one was probably meant.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/io/safetensors.h>

namespace hb::io {

/// Rules `old=new`, applied in their order, each to what the one before it gave:
/// - `encoder=enc`: the name `encoder` and what stands below it (`encoder.0.weight`), by whole parts of dotted names;
/// - `module.*=*`, `*=net.*`, `enc_*=enc.*`: names that begin with the text before the star;
/// - `/layer(\d+)/=layers.$1`: every match of a regular expression (ECMAScript; `\/` is a slash, `$1` its first group).
class HB_API RenameRules {
 public:
  RenameRules();
  /// Throws hb::Error for a text that is not a rule.
  explicit RenameRules(const std::vector<std::string>& rules);

  void add(const std::string& rule);
  /// As 'from*=to*', whatever characters the two hold.
  void add_prefix(const std::string& from, const std::string& to);
  bool empty() const;
  std::string apply(const std::string& name) const;
  /// Throws hb::Error that names both where two names become one.
  NamedTensors apply(const NamedTensors& tensors) const;
  /// The rules that changed none of these names.
  std::vector<std::string> unused(const NamedTensors& tensors) const;

 private:
  struct Rule;
  std::vector<std::shared_ptr<const Rule>> rules_;
};

/// A file's name for a terminal: control characters as \xNN.
HB_API std::string printable(const std::string& name);

/// A name and the shape of its tensor; no shape where it is not known.
struct NamedShape {
  std::string name;
  std::optional<std::vector<int64_t>> shape;
};
HB_API NamedShape named_shape(const std::string& name, const Tensor& tensor);

/// For each wanted name the candidate that was probably meant, or an empty text: the least edit distance of dotted
/// names (parts inserted, removed or misspelt), candidates of another shape far behind.
HB_API std::vector<std::string> nearest_names(const std::vector<NamedShape>& wanted,
                                              const std::vector<NamedShape>& candidates);

/// A rule that makes at least half of the given names fit the wanted ones, or nothing: a prefix that all of one side
/// have.
HB_API std::optional<std::string> suggest_rule(const std::vector<NamedShape>& wanted,
                                               const std::vector<NamedShape>& given);

/// How two sets of names and shapes fit.
struct KeyComparison {
  std::vector<NamedShape> missing;     // wanted, not given
  std::vector<NamedShape> unexpected;  // given, not wanted
  struct Mismatch {
    std::string name;
    std::vector<int64_t> wanted, given;
  };
  std::vector<Mismatch> mismatched;  // both, with different shapes
};
HB_API KeyComparison compare_keys(const std::vector<NamedShape>& wanted, const std::vector<NamedShape>& given);
/// How describe() speaks.
struct DescribeKeys {
  bool strict = true;  // false: missing and unexpected names are left out
  size_t most = 20;    // names of each kind
  const char* missing = "missing";
  const char* unexpected = "unexpected";
  const char* nearest_given = "nearest given";
  const char* nearest_wanted = "nearest wanted";
};
/// Lines for people: each kind with its count, names with the nearest of the other side, and a rule for the given names
/// that would help. Empty where there is nothing to say.
HB_API std::string describe(const KeyComparison& comparison, const DescribeKeys& how = {});

}  // namespace hb::io

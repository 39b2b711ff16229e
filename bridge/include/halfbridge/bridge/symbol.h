#pragma once
// <ATen/core/symbol.h> and <ATen/core/Dimname.h>: names that are kept once and compared by number.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/macros.h>

namespace hb::bridge {

using unique_t = uint32_t;

/// A name in a namespace, "aten::add". The numbers are those of this run of the program; LibTorch's constants (attr::,
/// aten:: …) do not exist.
struct HB_API Symbol {
  constexpr explicit Symbol() : value_(0) {}
  constexpr explicit Symbol(unique_t unique) : value_(unique) {}
  static Symbol fromQualString(const std::string& name);
  /// From "org.pytorch.aten" and "add".
  static Symbol fromDomainAndUnqualString(const std::string& domain, const std::string& name);

  static Symbol attr(const std::string& name) { return fromQualString("attr::" + name); }
  static Symbol aten(const std::string& name) { return fromQualString("aten::" + name); }
  static Symbol cuda(const std::string& name) { return fromQualString("cuda::" + name); }
  static Symbol onnx(const std::string& name) { return fromQualString("onnx::" + name); }
  static Symbol prim(const std::string& name) { return fromQualString("prim::" + name); }
  static Symbol user(const std::string& name) { return fromQualString("user::" + name); }
  static Symbol caffe2(const std::string& name) { return fromQualString("_caffe2::" + name); }
  static Symbol dimname(const std::string& name) { return fromQualString("dimname::" + name); }
  static Symbol scope(const std::string& name) { return fromQualString("scope::" + name); }

  bool is_attr() const { return is_in("attr"); }
  bool is_aten() const { return is_in("aten"); }
  bool is_cuda() const { return is_in("cuda"); }
  bool is_prim() const { return is_in("prim"); }
  bool is_prims() const { return is_in("prims"); }
  bool is_nvprims() const { return is_in("nvprims"); }
  bool is_onnx() const { return is_in("onnx"); }
  bool is_user() const { return is_in("user"); }
  bool is_caffe2() const { return is_in("_caffe2"); }
  bool is_dimname() const { return is_in("dimname"); }

  constexpr operator unique_t() const noexcept { return value_; }  // NOLINT: implicit as in LibTorch
  /// The namespace, as a symbol: "namespaces::aten".
  Symbol ns() const;
  /// "add", "aten::add", "aten::add" and "org.pytorch.aten"; the texts live as long as the program.
  const char* toUnqualString() const;
  const char* toQualString() const;
  const char* toDisplayString() const { return toQualString(); }
  std::string domainString() const;

 private:
  bool is_in(const char* space) const;
  unique_t value_;
};
inline bool operator==(Symbol a, Symbol b) { return static_cast<unique_t>(a) == static_cast<unique_t>(b); }
HB_API const std::string& domain_prefix();

enum class NameType : uint8_t { BASIC, WILDCARD };

/// The name of a dimension. Those of tensors are all wildcards: names are for programs that keep them beside tensors.
struct HB_API Dimname {
  static Dimname fromSymbol(Symbol name);
  static Dimname wildcard();
  static bool isValidName(const std::string& name);

  NameType type() const { return type_; }
  Symbol symbol() const { return name_; }
  bool isBasic() const { return type_ == NameType::BASIC; }
  bool isWildcard() const { return type_ == NameType::WILDCARD; }
  bool matches(Dimname other) const { return unify(other).has_value(); }
  /// What fits both: a wildcard fits any name.
  std::optional<Dimname> unify(Dimname other) const;

 private:
  explicit Dimname(Symbol name, NameType type = NameType::BASIC) : name_(name), type_(type) {}
  Symbol name_;
  NameType type_;
};
using DimnameList = ArrayRef<Dimname>;
inline bool operator==(const Dimname& a, const Dimname& b) { return a.symbol() == b.symbol(); }
inline bool operator!=(const Dimname& a, const Dimname& b) { return !(a == b); }
HB_API std::ostream& operator<<(std::ostream& out, const Dimname& name);

}  // namespace hb::bridge

template <>
struct std::hash<hb::bridge::Symbol> {
  size_t operator()(hb::bridge::Symbol symbol) const noexcept {
    return std::hash<uint32_t>()(static_cast<uint32_t>(symbol));
  }
};

// Names that are kept once.
#include <halfbridge/bridge/symbol.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <ostream>
#include <unordered_map>

#include <halfbridge/error.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
namespace {

constexpr const char* kNamespaces = "namespaces";

struct Entry {
  unique_t space;
  std::string qualified, unqualified;
};

class Table {
 public:
  Table() {
    // Number 0 is what a symbol without a name is in LibTorch, number 1 the namespace of namespaces, its own.
    entries_ = {{1, "namespaces::prim", "prim"}, {1, "namespaces::namespaces", kNamespaces}};
    numbers_ = {{entries_[0].qualified, 0}, {entries_[1].qualified, 1}};
  }
  unique_t number(const std::string& qualified) {
    const std::lock_guard lock(mutex_);
    const auto known = numbers_.find(qualified);
    if (known != numbers_.end()) return known->second;
    const size_t colons = qualified.find("::");
    HB_CHECK(colons != std::string::npos,
             "all symbols must have a namespace, <namespace>::<string>, but found: ", qualified);
    const unique_t space = namespace_number(qualified.substr(0, colons));
    return add({space, qualified, qualified.substr(colons + 2)});
  }
  const Entry& entry(unique_t number) {
    const std::lock_guard lock(mutex_);
    HB_CHECK(number < entries_.size(), "[Symbol] expected the number of a symbol, got ", number);
    return entries_[number];  // entries stay where they are
  }

 private:
  unique_t namespace_number(const std::string& name) {
    const std::string qualified = std::string(kNamespaces) + "::" + name;
    const auto known = numbers_.find(qualified);
    return known != numbers_.end() ? known->second : add({1, qualified, name});
  }
  unique_t add(Entry entry) {
    const auto number = static_cast<unique_t>(entries_.size());
    numbers_.emplace(entry.qualified, number);
    entries_.push_back(std::move(entry));
    return number;
  }

  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string, unique_t> numbers_;
};

Table& table() {
  static auto* const all = new Table;
  return *all;
}

}  // namespace

const std::string& domain_prefix() {
  static const auto* const prefix = new std::string("org.pytorch.");
  return *prefix;
}

Symbol Symbol::fromQualString(const std::string& name) { return Symbol(table().number(name)); }
Symbol Symbol::fromDomainAndUnqualString(const std::string& domain, const std::string& name) {
  HB_CHECK(domain.compare(0, domain_prefix().size(), domain_prefix()) == 0,
           "Symbol: domain string is expected to be prefixed with '", domain_prefix(), "', e.g. 'org.pytorch.aten'");
  return fromQualString(domain.substr(domain_prefix().size()) + "::" + name);
}

Symbol Symbol::ns() const { return Symbol(table().entry(value_).space); }
const char* Symbol::toUnqualString() const { return table().entry(value_).unqualified.c_str(); }
const char* Symbol::toQualString() const { return table().entry(value_).qualified.c_str(); }
std::string Symbol::domainString() const { return domain_prefix() + ns().toUnqualString(); }
bool Symbol::is_in(const char* space) const { return std::string(ns().toUnqualString()) == space; }

Dimname Dimname::fromSymbol(Symbol name) {
  HB_CHECK(name.is_dimname(), "[Dimname] expected a name in dimname::, got ", name.toQualString());
  const Dimname any = wildcard();
  if (name == any.symbol()) return any;
  HB_CHECK(
      isValidName(name.toUnqualString()),
      "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and starts "
      "with a non-digit. got: '",
      name.toUnqualString(), "'.");
  return Dimname(name);
}
Dimname Dimname::wildcard() {
  static const Symbol any = Symbol::dimname("*");
  return Dimname(any, NameType::WILDCARD);
}
bool Dimname::isValidName(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}
std::optional<Dimname> Dimname::unify(Dimname other) const {
  if (other.isWildcard() || *this == other) return *this;
  return isWildcard() ? std::optional<Dimname>(other) : std::nullopt;
}
std::ostream& operator<<(std::ostream& out, const Dimname& name) {
  return name.isWildcard() ? out << "None" : out << "'" << name.symbol().toUnqualString() << "'";
}

}  // namespace hb::bridge

namespace hb {

ArrayRef<bridge::Dimname> Tensor::names() const {
  static const std::vector<bridge::Dimname> wildcards(64, bridge::Dimname::wildcard());
  HB_CHECK(dim() <= 64, "[names] expected a tensor of at most 64 dimensions, got ", dim());
  return ArrayRef<bridge::Dimname>(wildcards).slice(0, static_cast<size_t>(dim()));
}

}  // namespace hb

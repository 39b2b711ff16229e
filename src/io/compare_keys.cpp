#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <halfbridge/io/keys.h>

namespace hb::io {
namespace {

using Names = std::unordered_set<std::string>;

Names names_of(const std::vector<NamedShape>& items) {
  Names names;
  for (const NamedShape& item : items) names.insert(item.name);
  return names;
}

std::string text_of_shape(const std::vector<int64_t>& shape) { return detail::str(IntArrayRef(shape)); }

// How many of the names are wanted once the prefix is taken away or put in front.
size_t fitting(const std::vector<NamedShape>& given, const Names& wanted, const std::string& prefix, bool add) {
  return static_cast<size_t>(std::count_if(given.begin(), given.end(), [&](const NamedShape& item) {
    if (add) return wanted.count(prefix + item.name) > 0;
    return item.name.compare(0, prefix.size(), prefix) == 0 && wanted.count(item.name.substr(prefix.size())) > 0;
  }));
}

// What stands before `shorter` at the end of `longer`, with its dot.
std::string prefix_before(const std::string& longer, const std::string& shorter) {
  const size_t start = longer.size() - std::min(longer.size(), shorter.size());
  const bool ends = start > 0 && longer[start - 1] == '.' && longer.compare(start, std::string::npos, shorter) == 0;
  return ends ? longer.substr(0, start) : std::string();
}

void list_names(std::string& text, const char* title, const std::vector<NamedShape>& items,
                const std::vector<NamedShape>& others, size_t most, const char* nearest_in) {
  if (items.empty()) return;
  const std::vector<NamedShape> shown(items.begin(),
                                      items.begin() + static_cast<std::ptrdiff_t>(std::min(most, items.size())));
  const std::vector<std::string> nearest = nearest_names(shown, others);
  std::unordered_map<std::string, const NamedShape*> shapes;
  for (const NamedShape& other : others) shapes.emplace(other.name, &other);
  text += detail::str("\n  ", items.size(), " ", title, ":");
  for (size_t i = 0; i < shown.size(); ++i) {
    text += "\n    " + printable(shown[i].name);
    if (shown[i].shape) text += " " + text_of_shape(*shown[i].shape);
    if (nearest[i].empty()) continue;
    const NamedShape& other = *shapes.at(nearest[i]);
    text += std::string("  (") + nearest_in + ": " + printable(nearest[i]);
    if (shown[i].shape && other.shape && *shown[i].shape != *other.shape) text += " " + text_of_shape(*other.shape);
    text += ")";
  }
  if (items.size() > shown.size()) text += detail::str("\n    and ", items.size() - shown.size(), " more");
}

}  // namespace

std::string printable(const std::string& name) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    // U+0080 to U+009f are controls too.
    const bool high = byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || high) {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      text += name[i];
    }
  }
  return text;
}

NamedShape named_shape(const std::string& name, const Tensor& tensor) {
  const IntArrayRef sizes = tensor.sizes();
  return {name, std::vector<int64_t>(sizes.begin(), sizes.end())};
}

std::optional<std::string> suggest_rule(const std::vector<NamedShape>& wanted, const std::vector<NamedShape>& given) {
  if (wanted.empty() || given.empty()) return std::nullopt;
  const Names wanted_names = names_of(wanted);
  const std::vector<std::string> nearest = nearest_names(
      {wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(wanted.size(), 8))}, given);
  for (size_t i = 0; i < nearest.size(); ++i) {
    if (nearest[i].empty()) continue;
    const std::string extra = prefix_before(nearest[i], wanted[i].name);
    if (!extra.empty() && 2 * fitting(given, wanted_names, extra, false) >= given.size()) return extra + "*=*";
    const std::string lacking = prefix_before(wanted[i].name, nearest[i]);
    if (!lacking.empty() && 2 * fitting(given, wanted_names, lacking, true) >= given.size()) {
      return "*=" + lacking + "*";
    }
  }
  return std::nullopt;
}

KeyComparison compare_keys(const std::vector<NamedShape>& wanted, const std::vector<NamedShape>& given) {
  std::unordered_map<std::string, const NamedShape*> by_name;
  for (const NamedShape& item : given) by_name.emplace(item.name, &item);
  KeyComparison result;
  for (const NamedShape& item : wanted) {
    const auto found = by_name.find(item.name);
    if (found == by_name.end()) {
      result.missing.push_back(item);
    } else if (item.shape && found->second->shape && *item.shape != *found->second->shape) {
      result.mismatched.push_back({item.name, *item.shape, *found->second->shape});
    }
  }
  const Names names = names_of(wanted);
  for (const NamedShape& item : given)
    if (names.count(item.name) == 0) result.unexpected.push_back(item);
  return result;
}

std::string describe(const KeyComparison& comparison, const DescribeKeys& how) {
  const size_t most = how.most;
  std::string text;
  if (how.strict) {
    list_names(text, how.missing, comparison.missing, comparison.unexpected, most, how.nearest_given);
    list_names(text, how.unexpected, comparison.unexpected, comparison.missing, most, how.nearest_wanted);
  }
  if (!comparison.mismatched.empty()) {
    text += detail::str("\n  ", comparison.mismatched.size(), " of another shape:");
    for (size_t i = 0; i < std::min(most, comparison.mismatched.size()); ++i) {
      const auto& item = comparison.mismatched[i];
      text += "\n    " + printable(item.name) + ": expected " + text_of_shape(item.wanted) + ", got " +
              text_of_shape(item.given);
      const bool transposed = item.wanted.size() == 2 && item.given.size() == 2 && item.wanted[0] == item.given[1] &&
                              item.wanted[1] == item.given[0];
      if (transposed) text += " (transposed)";
    }
    if (comparison.mismatched.size() > most)
      text += detail::str("\n    and ", comparison.mismatched.size() - most, " more");
  }
  if (how.strict) {
    if (const auto rule = suggest_rule(comparison.missing, comparison.unexpected)) {
      text += "\n  the rename rule '" + printable(*rule) + "' makes most of them fit";
    }
  }
  return text;
}

}  // namespace hb::io

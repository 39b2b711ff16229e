#include "record_json.h"

#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include <halfbridge/error.h>

namespace hb::layer_diff {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 4;
constexpr size_t kMaxText = 1 << 20;
constexpr size_t kMaxWord = 4096;
constexpr size_t kMaxDims = 64;

struct DtypeName {
  Dtype dtype;
  const char* name;
};
constexpr DtypeName kDtypes[] = {{kDouble, "F64"}, {kFloat, "F32"}, {kHalf, "F16"},  {kBFloat16, "BF16"},
                                 {kLong, "I64"},   {kInt, "I32"},   {kShort, "I16"}, {kChar, "I8"},
                                 {kByte, "U8"},    {kBool, "BOOL"}};

class Fields {
 public:
  Fields(const std::string& name, const std::string& text) : name_(name) {
    if (text.size() > kMaxText) fail("its JSON is longer than ", kMaxText, " bytes");
    try {
      check_depth(text);
      json_ = Json::parse(text);
    } catch (const Json::exception& error) {
      fail("it is not JSON: ", error.what());
    }
    if (!json_.is_object()) fail("expected a JSON object");
  }

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw ValueError(detail::str("[trace] record '", name_, "': ", parts...));
  }

  // Before it is parsed: the parser's own callbacks take a time that grows with the square of an object's members.
  void check_depth(const std::string& text) const {
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"') quoted = !quoted;
      if (quoted && c == '\\') ++i;
      if (quoted) continue;
      if ((c == '{' || c == '[') && ++depth > kMaxDepth) fail("its JSON is nested too deep");
      if (c == '}' || c == ']') --depth;
    }
  }

  const Json* find(const char* field) const {
    const auto found = json_.find(field);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  std::optional<int64_t> whole(const char* field) const {
    const Json* value = find(field);
    if (!value) return std::nullopt;
    if (!value->is_number_unsigned() || value->get<uint64_t>() > INT64_MAX) {
      fail("expected a whole number that is not negative as ", field);
    }
    return value->get<int64_t>();
  }

  std::optional<std::string> text(const char* field) const {
    const Json* value = find(field);
    if (!value) return std::nullopt;
    if (!value->is_string()) fail("expected text as ", field);
    if (value->get_ref<const std::string&>().size() > kMaxWord && std::strcmp(field, "config") != 0) {
      fail("expected at most ", kMaxWord, " bytes as ", field);
    }
    return value->get<std::string>();
  }

  std::optional<bool> flag(const char* field) const {
    const Json* value = find(field);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) fail("expected true or false as ", field);
    return value->get<bool>();
  }

  std::vector<int64_t> shape() const {
    const Json& value = *find("shape");
    if (!value.is_array() || value.size() > kMaxDims) fail("expected a list of at most 64 sizes as shape");
    std::vector<int64_t> result;
    int64_t numel = 1;
    for (const Json& size : value) {
      if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX) fail("expected whole numbers as shape");
      result.push_back(size.get<int64_t>());
      // Strides skip sizes of zero: they must not overflow either.
      if (__builtin_mul_overflow(numel, std::max<int64_t>(result.back(), 1), &numel)) fail("it is too large");
    }
    return result;
  }

  Dtype dtype() const {
    const std::string name = *text("dtype");
    for (const DtypeName& row : kDtypes)
      if (name == row.name) return row.dtype;
    fail("dtype ", name, " is not supported");
  }

  Statistics statistics() const {
    const Json& value = *find("stats");
    if (!value.is_object()) fail("expected an object as stats");
    // No element is finite: JSON has no NaN.
    const auto real = [&](const char* field) {
      const auto found = value.find(field);
      if (found == value.end() || found->is_null()) return std::numeric_limits<double>::quiet_NaN();
      if (!found->is_number()) fail("expected a number as stats.", field);
      return found->get<double>();
    };
    const auto count = [&](const char* field) {
      const double number = real(field);
      if (!(number >= 0 && number < 9e18)) fail("expected a count as stats.", field);
      return static_cast<int64_t>(number);
    };
    return {real("min"), real("max"),  real("mean"), real("std"),
            real("l2"),  count("nan"), count("inf"), count("zeros")};
  }

 private:
  const std::string& name_;
  Json json_;
};

}  // namespace

const char* dtype_name(Dtype dtype) {
  for (const DtypeName& row : kDtypes)
    if (row.dtype == dtype) return row.name;
  return "?";
}

ParsedRecord parse_record(const std::string& name, const std::string& json) {
  const Fields fields(name, json);
  ParsedRecord parsed;
  Record& record = parsed.record;
  const auto kind = fields.text("kind");
  if (!kind) fields.fail("expected a kind");
  record.kind = kind_of(*kind);
  const auto order = fields.whole("order");
  if (!order) fields.fail("expected an order");
  record.order = *order;
  record.step = fields.whole("step").value_or(0);
  record.index = fields.whole("index").value_or(0);
  record.call = fields.whole("call");
  const auto path = fields.text("path");
  record.has_path = path.has_value();
  record.path = path.value_or("");
  record.root = fields.text("root").value_or("");
  record.type = fields.text("type").value_or("");
  record.name = fields.text("name").value_or("");
  if (fields.find("stats")) record.statistics = fields.statistics();
  if ((parsed.has_dtype = fields.find("dtype") != nullptr)) record.dtype = fields.dtype();
  if ((parsed.has_shape = fields.find("shape") != nullptr)) record.shape = fields.shape();
  parsed.parent = fields.whole("parent");
  parsed.training = fields.flag("training");
  parsed.same_as = fields.text("same_as").value_or("");
  parsed.config = fields.text("config").value_or("");
  return parsed;
}

}  // namespace hb::layer_diff

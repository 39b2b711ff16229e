#include "op_types.h"

#include <cctype>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hb::layer_diff {
namespace {

struct Composition {
  const char* one;
  std::set<std::string> parts;  // what it may be written with
  const char* needed;           // one of the parts, or one more that must be there
};
// What is recorded on the way beside the work itself.
const std::set<std::string> kViews = {"transpose", "flatten", "identity", "squeeze", "expand", "slice", "chunk"};
const std::vector<Composition>& compositions() {
  static const std::vector<Composition> table = {
      {"linear", {"matmul", "add", "linear"}, "matmul"},
      {"baddbmm", {"matmul", "add", "mul"}, "matmul"},
      {"cross_entropy_loss", {"log_softmax", "nll_loss", "softmax", "log", "mean", "sum", "mul"}, "log_softmax"},
      {"bce_with_logits_loss", {"sigmoid", "bce_loss", "mean"}, "sigmoid"},
      {"log_softmax", {"softmax", "log"}, "softmax"},
      {"mse_loss", {"sub", "pow", "mul", "mean", "sum"}, "sub"},
      {"silu", {"sigmoid", "mul"}, "sigmoid"},
      {"attention",
       {"matmul", "mul", "div", "softmax", "dropout", "add", "masked_fill", "where", "baddbmm"},
       "softmax"},
      {"layer_norm", {"mean", "sub", "pow", "mul", "add", "sqrt", "rsqrt", "div", "var"}, "mean"},
      {"batch_norm", {"mean", "sub", "pow", "mul", "add", "sqrt", "rsqrt", "div", "var"}, "mul"},
      {"rms_norm", {"mean", "pow", "mul", "add", "sqrt", "rsqrt", "div"}, "mean"},
      {"conv", {"unfold", "matmul", "add", "fold"}, "matmul"},
      {"pad", {"pad", "cat"}, "pad"},
  };
  return table;
}

std::string folded(const std::string& type) {
  const size_t colons = type.rfind("::");
  std::string name;
  for (char c : colons == std::string::npos ? type : type.substr(colons + 2)) {
    if (c == '.') break;  // an overload
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::string impl = "impl";
  if (name.size() > impl.size() && name.compare(name.size() - impl.size(), impl.size(), impl) == 0) {
    name.erase(name.size() - impl.size());
  }
  return name;
}

struct Row {
  const char *kind, *names;
};
constexpr Row kRows[] = {
#define HB_LAYER(module, kind, ...) {#kind, #module},
#define HB_PYTHON_LAYER HB_LAYER
#include <halfbridge/bridge/nn/table/modules.def>
#define HB_CALL(function, kind, ...) {#kind, #function},
#define HB_KIND(kind, names) {#kind, #kind " " names},
#include <halfbridge/bridge/nn/table/functions.def>
};

std::unordered_map<std::string, std::string> make_names() {
  std::unordered_map<std::string, std::string> names;
  for (const Row& row : kRows) {
    if (std::string_view(row.kind) == "none") continue;
    std::istringstream words(row.names);
    for (std::string name; words >> name;) names.emplace(folded(name), row.kind);
    names.emplace(folded(row.kind), row.kind);
  }
  return names;
}

}  // namespace

std::string canonical_type(const std::string& type) {
  static const std::unordered_map<std::string, std::string> names = make_names();
  const auto found = names.find(folded(type));
  return found == names.end() ? "" : found->second;
}

Compositions compositions_of(const std::string& canonical) {
  Compositions result;
  for (size_t i = 0; i < compositions().size(); ++i) {
    const Composition& c = compositions()[i];
    const uint32_t bit = uint32_t{1} << i;
    if (canonical == c.one) result.of |= bit;
    if (canonical == c.needed) result.needed |= bit;
    if (c.parts.count(canonical) > 0 || kViews.count(canonical) > 0) result.part |= bit;
  }
  return result;
}

bool is_identity_like(const std::string& canonical) {
  return canonical == "dropout" || canonical == "identity" || canonical == "flatten";
}

}  // namespace hb::layer_diff

#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include <halfbridge/error.h>

#include "environment.h"

namespace hb::amp {

Environment parse_environment(const std::string& value) {
  static const std::map<std::string, int> levels{{"O0", 0}, {"O1", 1}, {"O2", 2}, {"O3", 3}};
  const auto wrong = [&] {
    throw ValueError(
        "[HALFBRIDGE_AMP] expected O0, O1, O2 or O3, alone or followed by :fp16 or :bf16 and by :scale=dynamic or "
        ":scale= with a number above 0, got '" +
        value + "'");
  };
  std::vector<std::string> words;
  std::stringstream stream(value + ":");  // so that a colon at the end leaves an empty word
  for (std::string word; std::getline(stream, word, ':');) words.push_back(word);
  Environment e;
  if (words.empty() || !levels.count(words[0])) wrong();
  e.level = levels.at(words[0]);
  size_t at = 1;
  if (at < words.size() && (words[at] == "fp16" || words[at] == "bf16"))
    e.dtype = words[at++] == "bf16" ? kBFloat16 : kHalf;
  if (at < words.size() && words[at].rfind("scale=", 0) == 0) {
    const std::string scale = words[at++].substr(6);
    char* end = nullptr;
    if (scale != "dynamic") e.fixed_scale = std::strtod(scale.c_str(), &end);
    if (end && (scale.empty() || *end || !(e.fixed_scale > 0) || !std::isfinite(e.fixed_scale))) wrong();
  }
  if (at != words.size()) wrong();
  return e;
}

}  // namespace hb::amp

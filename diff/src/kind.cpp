#include <halfbridge/diff/trace.h>
#include <halfbridge/error.h>

namespace hb::layer_diff {

Kind kind_of(const std::string& name) {
  for (int i = 0; i < trace::kKinds; ++i)
    if (name == trace::kKindNames[i]) return static_cast<Kind>(i);
  throw ValueError("[trace] unknown kind of record '" + name + "'");
}

}  // namespace hb::layer_diff

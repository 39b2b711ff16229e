#include "core/attention_settings.h"

namespace hb {
AttentionSettings& attention_settings() {
  static constinit AttentionSettings settings;
  return settings;
}
}  // namespace hb

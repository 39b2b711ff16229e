#pragma once

#include <halfbridge/macros.h>

namespace hb {

/// Whether operations record history on this thread.
struct HB_API GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

/// Sets the mode until the end of the scope.
class HB_API AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;
  ~AutoGradMode() { GradMode::set_enabled(previous_); }

 private:
  bool previous_;
};
class HB_API NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Like NoGradGuard; tensors made under it can never take part in a graph.
class HB_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  ~InferenceMode();
  static bool is_enabled();

 private:
  bool previous_, previous_grad_;
};

}  // namespace hb

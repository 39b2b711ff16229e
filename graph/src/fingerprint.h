#pragma once
// What a step did, in a form in which two runs of it can be compared: a number that the program changed, a branch that
// it took, a variable that names another tensor.

#include <optional>
#include <string>
#include <vector>

#include "recording.h"

namespace hb::graph {

class Fingerprint {
 public:
  Fingerprint() = default;
  /// Of a recording of which no call was moved yet.
  Fingerprint(const Recording& recording, const std::vector<Tensor>& results);

  /// Where the library keeps values from call to call, a run may find them where another makes them.
  bool comparable(const Fingerprint& later) const { return keeps_ == later.keeps_; }
  /// What the later run does in another way; nothing where both do the same.
  std::optional<std::string> differs(const Fingerprint& later) const;

 private:
  struct Entry {
    const char* name;     // of the routine
    std::string numbers;  // and sizes
    std::string memory;   // where its operands lie
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> calls_;
  std::string results_;
  bool keeps_ = false;
};

}  // namespace hb::graph

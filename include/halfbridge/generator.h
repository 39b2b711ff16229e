#pragma once
// Placeholder location fixed for the random-number module.
#include <cstdint>
#include <memory>

#include <halfbridge/macros.h>

namespace hb {

class GeneratorImpl;

/// A handle to a stream of random numbers; copies share the stream.
class HB_API Generator {
 public:
  Generator() = default;
  explicit Generator(std::shared_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}
  bool defined() const { return impl_ != nullptr; }
  GeneratorImpl* get() const { return impl_.get(); }

 private:
  std::shared_ptr<GeneratorImpl> impl_;
};

}  // namespace hb

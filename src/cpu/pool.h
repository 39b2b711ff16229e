#pragma once

namespace hb::cpu {

/// While it lives, the libraries below the engine compute with the calling thread alone.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace hb::cpu

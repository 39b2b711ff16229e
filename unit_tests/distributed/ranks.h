#pragma once
// Ranks that are threads of one process.

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <thread>

namespace ranks {

using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

/// A variable of the environment within a scope.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

/// f(group) on each of `size` ranks; returns what each threw, or nothing.
inline std::vector<std::string> run(int size, const std::function<void(const Group&)>& f,
                                    std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  std::vector<std::string> errors(size);
  std::vector<std::thread> threads;
  const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  store->setTimeout(std::chrono::seconds(60));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
            store, rank, size, c10d::ProcessGroupGloo::Options::create(timeout));
        f(group);
      } catch (const std::exception& e) {
        errors[rank] = e.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return errors;
}

inline void expect_no_errors(const std::vector<std::string>& errors) {
  for (size_t r = 0; r < errors.size(); ++r) EXPECT_EQ(errors[r], "") << "rank " << r;
}

/// True where Gloo is not there; says so.
inline bool without_gloo() {
  try {
    c10d::ProcessGroupGloo::createDefaultDevice();
    return false;
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("libgloo-dev"), std::string::npos) << e.what();
    return true;
  }
}

}  // namespace ranks

#pragma once
// <c10/util/Registry.h>: tables in which programs register how objects are made, by a key.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace hb::bridge {

enum RegistryPriority {
  REGISTRY_FALLBACK = 1,
  REGISTRY_DEFAULT = 2,
  REGISTRY_PREFERRED = 3,
};

template <typename Key>
std::string KeyStrRepr(const Key& key) {
  if constexpr (std::is_convertible_v<const Key&, std::string>)
    return key;
  else
    return "[key type printing not supported]";
}

/// Objects are registered while a program starts; whoever looks later needs no lock.
template <class Key, class Pointer, class... Args>
class Registry {
 public:
  using Creator = std::function<Pointer(Args...)>;

  explicit Registry(bool warning = true) : warning_(warning) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Of two creators for a key the one of higher priority stays. Two of the same end the program, or throw
  /// std::runtime_error after SetTerminate(false).
  void Register(const Key& key, Creator creator, RegistryPriority priority = REGISTRY_DEFAULT) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || priority > found->second.priority) {
      entries_[key] = Entry{std::move(creator), priority};
    } else if (priority == found->second.priority) {
      refuse("Key already registered with the same priority: " + KeyStrRepr(key));
    } else if (warning_) {
      std::fprintf(stderr, "Higher priority item already registered, skipping registration of %s\n",
                   KeyStrRepr(key).c_str());
    }
  }
  void Register(const Key& key, Creator creator, const std::string& help_msg,
                RegistryPriority priority = REGISTRY_DEFAULT) {
    Register(key, std::move(creator), priority);
    help_[key] = help_msg;
  }

  bool Has(const Key& key) { return entries_.count(key) != 0; }
  /// Null for a key that is not registered.
  Pointer Create(const Key& key, Args... args) {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.creator(args...);
  }
  std::vector<Key> Keys() const {
    std::vector<Key> keys;
    for (const auto& entry : entries_) keys.push_back(entry.first);
    return keys;
  }
  const std::unordered_map<Key, std::string>& HelpMessage() const { return help_; }
  const char* HelpMessage(const Key& key) const {
    const auto found = help_.find(key);
    return found == help_.end() ? nullptr : found->second.c_str();
  }
  void SetTerminate(bool terminate) { terminate_ = terminate; }

 private:
  struct Entry {
    Creator creator;
    RegistryPriority priority;
  };
  void refuse(const std::string& message) const {
    std::fprintf(stderr, "%s\n", message.c_str());
    if (terminate_) std::exit(1);
    throw std::runtime_error(message);
  }

  std::unordered_map<Key, Entry> entries_;
  std::unordered_map<Key, std::string> help_;
  bool terminate_ = true;
  const bool warning_;
  std::mutex mutex_;
};

/// Registers when it is made: a global variable does, when the program or its library is loaded.
template <class Key, class Pointer, class... Args>
class Registerer {
  using Table = Registry<Key, Pointer, Args...>;

 public:
  explicit Registerer(const Key& key, Table* registry, typename Table::Creator creator,
                      const std::string& help_msg = "") {
    registry->Register(key, std::move(creator), help_msg);
  }
  explicit Registerer(const Key& key, RegistryPriority priority, Table* registry, typename Table::Creator creator,
                      const std::string& help_msg = "") {
    registry->Register(key, std::move(creator), help_msg, priority);
  }
  template <class Derived>
  static Pointer DefaultCreator(Args... args) {
    return Pointer(new Derived(args...));
  }
};

}  // namespace hb::bridge

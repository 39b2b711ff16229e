#pragma once

#include <utility>

#include <halfbridge/type_tree.h>

namespace hb::detail {

/// Makes types whose constructors programs do not call.
struct TypeMaker {
  template <class T, class... Args>
  static std::shared_ptr<T> make(Args&&... args) {
    return std::shared_ptr<T>(new T(std::forward<Args>(args)...));
  }
  /// Of any key: archives and lists of LibTorch's own are not checked.
  static DictTypePtr dict(TypePtr key, TypePtr value);
  /// A union of what is left when unions are taken apart and types that others cover are left out; that type itself
  /// where it is one.
  static TypePtr union_of(const std::vector<TypePtr>& types);
};

}  // namespace hb::detail

#pragma once
#include <c10/util/Type.h>
#include <halfbridge/bridge/registry.h>

namespace c10 {
using hb::bridge::KeyStrRepr;
using hb::bridge::Registerer;
using hb::bridge::Registry;
using hb::bridge::REGISTRY_DEFAULT;
using hb::bridge::REGISTRY_FALLBACK;
using hb::bridge::REGISTRY_PREFERRED;
using hb::bridge::RegistryPriority;
}  // namespace c10

// A registry is a function, RegistryName(), which gives the table.
#define C10_DECLARE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ...)     \
  C10_API ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>* RegistryName(); \
  typedef ::c10::Registerer<SrcType, PtrType<ObjectType>, ##__VA_ARGS__> Registerer##RegistryName
#define TORCH_DECLARE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ...) \
  C10_DECLARE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ##__VA_ARGS__)

#define C10_DEFINE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ...)                    \
  C10_EXPORT ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>* RegistryName() {           \
    static auto* const registry = new ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>(); \
    return registry;                                                                                  \
  }
#define C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(RegistryName, SrcType, ObjectType, PtrType, ...)         \
  C10_EXPORT ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>* RegistryName() {                \
    static auto* const registry = new ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>(false); \
    return registry;                                                                                       \
  }

#define C10_REGISTER_TYPED_CREATOR(RegistryName, key, ...) \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(key, RegistryName(), ##__VA_ARGS__);
#define C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(RegistryName, key, priority, ...)                        \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(key, priority, RegistryName(), \
                                                                           ##__VA_ARGS__);
#define C10_REGISTER_TYPED_CLASS(RegistryName, key, ...)                          \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(       \
      key, RegistryName(), Registerer##RegistryName::DefaultCreator<__VA_ARGS__>, \
      ::c10::demangle_type<__VA_ARGS__>());
#define C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(RegistryName, key, priority, ...)            \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(                 \
      key, priority, RegistryName(), Registerer##RegistryName::DefaultCreator<__VA_ARGS__>, \
      ::c10::demangle_type<__VA_ARGS__>());

// By text, with objects of one owner or of several.
#define C10_DECLARE_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::unique_ptr, ##__VA_ARGS__)
#define TORCH_DECLARE_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_REGISTRY(RegistryName, ObjectType, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::unique_ptr, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY_WITHOUT_WARNING(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(RegistryName, std::string, ObjectType, std::unique_ptr, ##__VA_ARGS__)
#define C10_DECLARE_SHARED_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::shared_ptr, ##__VA_ARGS__)
#define TORCH_DECLARE_SHARED_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_SHARED_REGISTRY(RegistryName, ObjectType, ##__VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::shared_ptr, ##__VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY_WITHOUT_WARNING(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(RegistryName, std::string, ObjectType, std::shared_ptr, ##__VA_ARGS__)
#define C10_REGISTER_CREATOR(RegistryName, key, ...) C10_REGISTER_TYPED_CREATOR(RegistryName, #key, __VA_ARGS__)
#define C10_REGISTER_CREATOR_WITH_PRIORITY(RegistryName, key, priority, ...) \
  C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(RegistryName, #key, priority, __VA_ARGS__)
#define C10_REGISTER_CLASS(RegistryName, key, ...) C10_REGISTER_TYPED_CLASS(RegistryName, #key, __VA_ARGS__)
#define C10_REGISTER_CLASS_WITH_PRIORITY(RegistryName, key, priority, ...) \
  C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(RegistryName, #key, priority, __VA_ARGS__)

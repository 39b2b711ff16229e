#include "cuda/library.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <vector>

#include <halfbridge/error.h>

#include "cuda/runtime.h"

namespace hb::cuda {
#ifdef HB_SOFTWARE_CUDA

Library::Library(const char* title, std::initializer_list<const char*>, const char*) : title_(title) {
  handle_ = const_cast<char*>(title);
}
void* Library::symbol(const char* name) const {
  void* const found = software_symbol(name);
  HB_CHECK(found, "[", current_function(), "] the software device's ", title_, " has no ", name);
  return found;
}

#else
namespace {

/// Folders that match a pattern.
void add_matches(const std::string& pattern, std::vector<std::string>& folders) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) folders.emplace_back(found.gl_pathv[i]);
  globfree(&found);
}

/// Where libraries may be, besides where the system looks.
std::vector<std::string> folders_for(const char* wheel) {
  std::vector<std::string> folders;
  if (const char* wish = std::getenv("HALFBRIDGE_CUDA_LIBRARIES")) folders.emplace_back(wish);
  folders.emplace_back("");
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/lib64");
  folders.emplace_back("/usr/local/cuda/lib64");
  std::vector<std::string> packages;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* prefix = std::getenv(variable))
      add_matches(std::string(prefix) + "/lib/python3*/site-packages", packages);
  if (const char* home = std::getenv("HOME"))
    add_matches(std::string(home) + "/.local/lib/python3*/site-packages", packages);
  for (const char* place : {"/usr/local/lib/python3*/dist-packages", "/usr/lib/python3*/dist-packages",
                            "/usr/local/lib/python3*/site-packages"})
    add_matches(place, packages);
  for (const std::string& package : packages) {
    add_matches(package + "/nvidia/cu1*/lib", folders);
    add_matches(package + "/nvidia/" + wheel + "/lib", folders);
  }
  return folders;
}

}  // namespace

Library::Library(const char* title, std::initializer_list<const char*> names, const char* wheel) : title_(title) {
  for (const std::string& folder : folders_for(wheel)) {
    for (const char* name : names) {
      const std::string path = folder.empty() ? name : folder + '/' + name;
      handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) return;
    }
  }
  for (const char* name : names) looked_for_ += (looked_for_.empty() ? "" : " or ") + std::string(name);
}
void* Library::symbol(const char* name) const {
  HB_CHECK(handle_, "[", current_function(), "] needs ", title_, ", and no ", looked_for_,
           " was found by the system's loader, in the CUDA toolkit, in pip's wheels or in the folder that "
           "HALFBRIDGE_CUDA_LIBRARIES names");
  void* const found = dlsym(handle_, name);
  HB_CHECK(found, "[", current_function(), "] this version of ", title_, " has no ", name);
  return found;
}

#endif
}  // namespace hb::cuda

// A program that is not linked with the library and loads it while it runs, as a plugin or an extension of Python does.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
  if (dlopen(argv[1], RTLD_NOW)) return 0;
  std::fprintf(stderr, "%s\n", dlerror());
  return 1;
}

// A library that needs oneDNN and nothing else. library.cpp loads it ahead of all others, so oneDNN finds this function
// in the place of the C library's and none of its static objects is ever destroyed: kernels in tables, descriptions of
// primitives, its cache. Threads that still compute while the process ends use them to the last moment.
extern "C" __attribute__((visibility("default"))) int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

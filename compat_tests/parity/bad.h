#pragma once
// What LibTorch refuses, Halfbridge refuses: a row is an expression that throws in both, and its text is its name.
#include "parity/case.h"

#define BAD(...) c.throws(#__VA_ARGS__, [&] { __VA_ARGS__; })

#pragma once
#include <c10/util/Metaprogramming.h>

#pragma once
#include <c10/macros/cmake_macros.h>

#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/small_numbers.h>

using hb::bridge::div_rtn;  // which LibTorch has in no namespace

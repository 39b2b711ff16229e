#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/small_numbers.h>

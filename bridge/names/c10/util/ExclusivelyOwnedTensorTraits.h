#pragma once
#include <c10/util/ExclusivelyOwned.h>

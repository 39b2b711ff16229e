#pragma once
#include <c10/util/TypeList.h>

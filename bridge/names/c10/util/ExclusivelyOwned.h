#pragma once
#include <c10/names.h>

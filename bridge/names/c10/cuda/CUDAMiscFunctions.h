#pragma once
#include <c10/cuda/names.h>

#pragma once
#include <ATen/core/jit_type_base.h>

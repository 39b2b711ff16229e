#pragma once
#include <torch/headeronly/names.h>

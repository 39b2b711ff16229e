#pragma once
#include <torch/serialize/input-archive.h>

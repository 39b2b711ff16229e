#pragma once
#include <torch/serialize/output-archive.h>

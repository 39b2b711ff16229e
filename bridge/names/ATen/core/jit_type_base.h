#pragma once
#include <ATen/core/ivalue.h>
#include <halfbridge/type_tree.h>

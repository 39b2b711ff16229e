#pragma once
#include <ATen/Dispatch.h>
#include <c10/names.h>

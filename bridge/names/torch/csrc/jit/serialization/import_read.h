#pragma once
#include <caffe2/serialize/inline_container.h>

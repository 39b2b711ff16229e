#pragma once
// What programs get from LibTorch's headers without asking for it.
// clang-format off
#include <algorithm>
#include <bitset>
#include <cassert>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <stack>
#include <thread>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
// clang-format on

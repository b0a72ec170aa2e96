# Writes OUTPUT, a header with the digest of the sources of the FLOORS (a list) below SOURCE_DIR and of BUILD, a text
# that says how they are compiled. Run by cmake -P when one of them has changed.
set(digests "${BUILD}")
foreach(floor IN LISTS FLOORS)
  file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/${floor}/*.h" "${SOURCE_DIR}/${floor}/*.cpp")
  list(SORT files)
  foreach(file IN LISTS files)
    file(SHA256 "${SOURCE_DIR}/${file}" digest)
    string(APPEND digests "\n${file} ${digest}")
  endforeach()
endforeach()
string(SHA256 digest "${digests}")
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Made by cmake/code_digest.cmake.
#pragma once

namespace attnlab {

inline constexpr const char* kCodeDigest = \"${digest}\";

}  // namespace attnlab
")

# Writes OUTPUT, a header with three digests: of the sources of the FLOORS (a list) below SOURCE_DIR and of BUILD, a text
# that says how they are compiled; of these together with the floor PROBES; and of the files RULES (a list) without
# comments and spaces. Run by cmake -P when one has changed.
set(digests "${BUILD}")
function(add_floor floor)
  file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/${floor}/*.h" "${SOURCE_DIR}/${floor}/*.cpp"
    "${SOURCE_DIR}/${floor}/*.inl")
  list(SORT files)
  foreach(file IN LISTS files)
    file(SHA256 "${SOURCE_DIR}/${file}" digest)
    string(APPEND digests "\n${file} ${digest}")
  endforeach()
  set(digests "${digests}" PARENT_SCOPE)
endfunction()
foreach(floor IN LISTS FLOORS)
  add_floor(${floor})
endforeach()
string(SHA256 code_digest "${digests}")
add_floor(${PROBES})
string(SHA256 probe_digest "${digests}")
set(rules "")
foreach(file IN LISTS RULES)
  file(READ "${SOURCE_DIR}/${file}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
  string(APPEND rules "\n${file} ${text}")
endforeach()
string(SHA256 rule_digest "${rules}")
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Made by cmake/code_digest.cmake.
#pragma once

namespace attnlab {

inline constexpr const char* kCodeDigest = \"${code_digest}\";
inline constexpr const char* kProbeDigest = \"${probe_digest}\";
inline constexpr const char* kRuleDigest = \"${rule_digest}\";

}  // namespace attnlab
")

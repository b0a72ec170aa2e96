// All keys of the section `study:`, for people and for editors.
#pragma once

#include <vector>

#include "config/spec.h"

namespace attnlab {

// NAME stands for a name that the user chooses.
std::vector<FieldDoc> study_schema();

}  // namespace attnlab

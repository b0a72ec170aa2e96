// What is asked for is not there, as against being there and wrong: a caller may go on without it.
#pragma once

#include "core/error.h"

namespace attnlab {

struct MissingFileError : DataError {
  using DataError::DataError;
};

}  // namespace attnlab

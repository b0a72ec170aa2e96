// Labelled proteins as the TAPE benchmark publishes them (Rao et al. 2019): a JSON list of objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

struct Protein {
  std::string residues;  // one capital letter each
  Index label = 0;
};

// Of each object its `primary` and the number under `label_key` ("fold_label"); all else is passed over as it
// is read, so that profiles of hundreds of megabytes need no memory. `name` is for messages. Throws DataError
// where the text is no such list, or an object lacks one of the two.
std::vector<Protein> parse_proteins(std::string_view json, const std::string& label_key,
                                    const std::string& name);

}  // namespace attnlab

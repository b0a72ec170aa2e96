// Files of a data set that lie together in one published archive.
#pragma once

#include "data/fetch.h"

namespace attnlab {

// Brings these files, all of one archive (the same url), into the folder: out of the archive, downloaded or
// in the folder `options.from`, or as plain files from there. The archive is not kept. As fetch_file
// otherwise.
void fetch_members(const std::vector<DataSetFile>& files, const std::filesystem::path& folder,
                   const FetchOptions& options);

}  // namespace attnlab

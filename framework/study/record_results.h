// Results that are kept in the repository: experiments/STUDY/results/NAME.json, and the tables in
// experiments/STUDY/README.md, which stand between markers and are never written by hand.
#pragma once

#include <filesystem>
#include <string>

#include "study/results.h"

namespace attnlab {

// Where the results of a study file belong: configs/STUDY/FIGURE.yaml to EXPERIMENTS/STUDY,
// configs/FIGURE.yaml to EXPERIMENTS/FIGURE.
std::filesystem::path experiment_folder(const std::filesystem::path& experiments,
                                        const std::filesystem::path& file);

// Where it is kept what a study expected when, beside its results: FOLDER/results/NAME.expectations.json.
std::filesystem::path kept_record(const std::filesystem::path& folder, const std::string& name);

// The results that are kept of a study; without arms if there are none. Throws IoError.
StudyResults kept_results(const std::filesystem::path& folder, const std::string& name);

// How a study ended: with all that its file asks for, with less (fewer seeds were asked for, runs failed), or
// before it was through.
enum class StudyEnd { complete, partial, interrupted };

// Whether results are to take the place of those that are kept. Incomplete ones are not where an arm
// holds less, be it fewer runs or fewer of their numbers, and interrupted ones not unless they hold more.
bool worth_keeping(const StudyResults& made, StudyEnd end, const StudyResults& kept);

// Writes both; a README that is missing is begun with the question and the command. Throws IoError.
void record_results(const StudyResults& results, const std::filesystem::path& folder,
                    const std::filesystem::path& file);

// The text with what stands between `<!-- results NAME -->` and `<!-- end of results NAME -->` replaced, or
// with both and the content appended.
std::string with_results(const std::string& text, const std::string& name, const std::string& content);

}  // namespace attnlab

#include "study/arm_names.h"

#include <algorithm>

#include "config/closest.h"
#include "config/scalars.h"

namespace attnlab {

void ArmNames::add(std::string name, std::string family) {
  names_.push_back(std::move(name));
  families_.push_back(std::move(family));
}

bool ArmNames::has(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::vector<std::string> ArmNames::meant_by(std::string_view name) const {
  if (has(name)) return {std::string(name)};
  std::vector<std::string> members;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (families_[i] == name) members.push_back(names_[i]);
  return members;
}

std::string ArmNames::unknown(const std::string& key, const std::string& name) const {
  const std::string problem = "'" + key + "': no arm has the name '" + name + "'";
  if (const auto members = meant_by(name); !members.empty())
    return problem + "; it is a family of arms: " + join_names(members);
  const std::string near = closest_match(name, names_);
  return problem + (near.empty() ? "; there are: " + join_names(names_) : ", did you mean '" + near + "'?");
}

}  // namespace attnlab

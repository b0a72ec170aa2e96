// The numbers in paths of modules and names of parameters: the 3 of "decoder.layers.3.mlp.up.weight".
#pragma once

#include <optional>
#include <string>

namespace attnlab {

struct NumberPart {
  std::size_t begin, end;  // of its digits
};

// The first part between dots, from `from` on (the begin of a part), that is a number.
std::optional<NumberPart> number_part(const std::string& name, std::size_t from = 0);

// The name with * for each number: what is alike in all layers has one.
std::string without_numbers(std::string name);

}  // namespace attnlab

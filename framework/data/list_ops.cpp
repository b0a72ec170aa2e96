#include "data/list_ops.h"

#include <algorithm>
#include <numeric>

namespace attnlab {
namespace {

class Drawing {
 public:
  Drawing(const ListRule& rule, const Random& random) : rule_(rule), random_(random) {}

  // False if the whole became too long.
  bool draw(ListExpression& node, Index depth) {
    const bool operation = depth < rule_.max_depth && random_.uniform(next_++) < rule_.operator_share;
    length_ += operation ? 2 : 1;
    if (length_ > rule_.max_length) return false;
    if (!operation) {
      node.digit = static_cast<int>(random_.below(next_++, 10));
      return true;
    }
    node.operation = static_cast<int>(random_.below(next_++, 4));
    const auto count = 2 + random_.below(next_++, static_cast<std::uint64_t>(rule_.max_arguments - 1));
    node.arguments.resize(count);
    return std::all_of(node.arguments.begin(), node.arguments.end(),
                       [this, depth](ListExpression& argument) { return draw(argument, depth + 1); });
  }

 private:
  const ListRule& rule_;
  const Random& random_;
  std::uint64_t next_ = 0;
  Index length_ = 0;
};

}  // namespace

int ListExpression::value() const {
  if (operation < 0) return digit;
  std::vector<int> values;
  for (const ListExpression& argument : arguments) values.push_back(argument.value());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  switch (operation) {
    case 0:
      return values.front();
    case 1:
      return values.back();
    case 2:  // the mean of the middle two, without its fraction
      return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    default:
      return std::accumulate(values.begin(), values.end(), 0) % 10;
  }
}

Index ListExpression::length() const {
  Index sum = operation < 0 ? 1 : 2;
  for (const ListExpression& argument : arguments) sum += argument.length();
  return sum;
}

std::string ListExpression::text() const {
  if (operation < 0) return std::to_string(digit);
  std::string text = kListOperators[operation];
  for (const ListExpression& argument : arguments) text += " " + argument.text();
  return text + " ]";
}

std::optional<ListExpression> draw_list_expression(const ListRule& rule, const Random& random) {
  ListExpression root;
  if (!Drawing(rule, random).draw(root, 1)) return {};
  return root;
}

}  // namespace attnlab

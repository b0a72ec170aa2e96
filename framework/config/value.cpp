#include "config/value.h"

#include <fmt/format.h>

#include <type_traits>

#include "config/scalars.h"

namespace attnlab {
namespace {

ConfigNode scalar_node(std::string text, bool quoted) {
  ConfigNode node;
  node.type = ConfigNode::Type::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

ConfigNode to_node(bool value) { return scalar_node(value ? "true" : "false", false); }
ConfigNode to_node(std::int64_t value) { return scalar_node(std::to_string(value), false); }
ConfigNode to_node(double value) { return scalar_node(number_text(value), false); }
ConfigNode to_node(const std::string& value) { return scalar_node(value, true); }
template <class T>
ConfigNode to_node(const std::optional<T>& value) {
  return value ? to_node(*value) : ConfigNode{};
}
template <class T>
ConfigNode to_node(const std::vector<T>& values) {
  ConfigNode node;
  node.type = ConfigNode::Type::list;
  for (const T& value : values) node.items.push_back(to_node(value));
  return node;
}

std::string outside(const std::string& value, const Bounds& bounds) {
  return fmt::format("is {}, must be {}", value, bounds.text());
}
std::string check_bounds(bool, const Bounds&) { return {}; }
std::string check_bounds(const std::string&, const Bounds&) { return {}; }
std::string check_bounds(std::int64_t value, const Bounds& bounds) {
  return bounds.contains(static_cast<double>(value)) ? "" : outside(std::to_string(value), bounds);
}
std::string check_bounds(double value, const Bounds& bounds) {
  return bounds.contains(value) ? "" : outside(short_number(value), bounds);
}
template <class T>
std::string check_bounds(const std::optional<T>& value, const Bounds& bounds) {
  return value ? check_bounds(*value, bounds) : "";
}
template <class T>
std::string check_bounds(const std::vector<T>& values, const Bounds& bounds) {
  for (const T& value : values)
    if (std::string wrong = check_bounds(value, bounds); !wrong.empty()) return wrong;
  return {};
}

template <class T>
std::string read_into(const ConfigNode& node, T& out, const Bounds& bounds, const ConfigNode*& at) {
  at = &node;
  T value{};
  std::string wrong = read_scalar(node, value);
  if (wrong.empty()) wrong = check_bounds(value, bounds);
  if (wrong.empty()) out = value;
  return wrong;
}
template <class T>
std::string read_into(const ConfigNode& node, std::optional<T>& out, const Bounds& bounds,
                      const ConfigNode*& at) {
  T value{};
  if (node.type == ConfigNode::Type::null) {
    out.reset();
    return {};
  }
  std::string wrong = read_into(node, value, bounds, at);
  if (wrong.empty()) out = value;
  return wrong;
}
template <class T>
std::string read_into(const ConfigNode& node, std::vector<T>& out, const Bounds& bounds,
                      const ConfigNode*& at) {
  at = &node;
  std::vector<T> values(1);
  if (node.type == ConfigNode::Type::scalar) {
    std::string wrong = read_into(node, values[0], bounds, at);
    if (wrong.empty()) out = std::move(values);
    return wrong;
  }
  if (node.type != ConfigNode::Type::list) return "must be a list, found " + node.found();
  values.resize(node.items.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const std::string wrong = read_into(node.items[i], values[i], bounds, at); !wrong.empty())
      return fmt::format("item {} {}", i + 1, wrong);
  out = std::move(values);
  return {};
}

std::string name_of(const bool&) { return "true or false"; }
std::string name_of(const std::int64_t&) { return "whole number"; }
std::string name_of(const double&) { return "number"; }
std::string name_of(const std::string&) { return "text"; }
template <class T>
std::string name_of(const std::optional<T>&) {
  return name_of(T{}) + " or null";
}
template <class T>
std::string name_of(const std::vector<T>&) {
  return "list of " + name_of(T{}) + "s";
}

}  // namespace

std::string read_value(const ConfigNode& node, const ValueRef& value, const Bounds& bounds,
                       const ConfigNode*& at) {
  return std::visit([&](auto* member) { return read_into(node, *member, bounds, at); }, value.pointer);
}

std::string check_value(const ValueRef& value, const Bounds& bounds) {
  return std::visit([&](const auto* member) { return check_bounds(*member, bounds); }, value.pointer);
}

ConfigNode write_value(const ValueRef& value) {
  return std::visit([](const auto* member) { return to_node(*member); }, value.pointer);
}

std::string type_name(const ValueRef& value) {
  return std::visit([](const auto* member) { return name_of(*member); }, value.pointer);
}

ConfigNode write_scalar(const Fields::Scalar& scalar) {
  return std::visit([](const auto& value) { return to_node(value); }, scalar);
}

std::string type_name(const Fields::Scalar& scalar) {
  return std::visit([](const auto& value) { return name_of(value); }, scalar);
}

}  // namespace attnlab

// How a spec describes its keys, once: name, default, range, one-line doc. A spec is a plain struct with
// default member initialisers and `void fields(Fields& f)`; reading, writing, `config schema` and diffs all
// call that function with their own Fields. It is no place for work: fields() may be called at any time, on
// any value of the struct.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "config/bounds.h"

namespace attnlab {

// A reference to a member of one of the types that a key may have.
struct ValueRef {
  using Pointer =
      std::variant<bool*, std::int64_t*, double*, std::string*, std::optional<bool>*,
                   std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*,
                   std::vector<std::int64_t>*, std::vector<double>*, std::vector<std::string>*>;
  template <class T>
  requires std::constructible_from<Pointer, T*> ValueRef(T& value) : pointer(&value) {}
  Pointer pointer;
};

class Fields {
 public:
  virtual ~Fields() = default;

  // A key with a value. Bounds apply to numbers, and to each number of a list. A list may be given as a
  // single value. std::optional: absent or null means unset.
  void operator()(std::string_view key, ValueRef value, const Bounds& bounds, std::string_view doc,
                  std::string_view unit = {}) {
    on_value({key, doc, unit}, value, bounds);
  }
  void operator()(std::string_view key, ValueRef value, std::string_view doc, std::string_view unit = {}) {
    on_value({key, doc, unit}, value, Bounds{});
  }

  // A key with a closed set of values.
  template <class E>
  void choice(std::string_view key, E& value, std::initializer_list<std::pair<const char*, E>> options,
              std::string_view doc);

  // A nested spec.
  template <class S>
  void section(std::string_view key, S& spec, std::string_view doc) {
    on_section({key, doc, {}}, section_of(spec));
  }

  // A nested spec that may also be given as one scalar, which is passed to spec.set_all(S::Scalar), where
  // S::Scalar is bool, std::int64_t, double or std::string. What set_all throws becomes a message at that
  // scalar. Written as a map.
  template <class S>
  void scalar_or_section(std::string_view key, S& spec, std::string_view doc);

  // A spec of a registered kind (config/registry.h): {kind: NAME, keys of that kind}, or NAME alone. Another
  // kind than the present one starts from the defaults of the new one. A null pointer, for lack of a default,
  // stays null unless a kind is given.
  template <class S>
  void kind(std::string_view key, std::shared_ptr<S>& spec, std::string_view doc) {
    on_kind({key, doc, {}}, kind_of(spec, false));
  }
  // The same, where null is a value of its own: unset.
  template <class S>
  void optional_kind(std::string_view key, std::shared_ptr<S>& spec, std::string_view doc) {
    on_kind({key, doc, {}}, kind_of(spec, true));
  }

  // A section that starts as a copy of `parent`, with its own keys on top. `parent` is described before, by
  // section() or inline, by parent.fields(f). Only the keys that this section sets itself are written.
  template <class S>
  void inherits(std::string_view key, S& spec, const S& parent, std::string_view doc);

  // A rule across fields; reported at `key` (a path from this section) when it does not hold.
  void check(bool condition, std::string_view key, std::string_view message) {
    if (!condition) on_failed_check(key, message);
  }

  // What the templates above hand to the reader, the writer and the rest.
  struct Key {
    std::string_view name, doc, unit;
  };
  struct Section {
    const void* address;
    std::type_index type;
    std::function<void(Fields&)> fields;
  };
  using Scalar = std::variant<bool, std::int64_t, double, std::string>;
  struct Kind {
    std::string registry;
    std::function<std::shared_ptr<void>()> get;  // null, or an S
    std::function<std::type_index()> type;       // of what get() points to
    std::function<void(std::shared_ptr<void>)> set;
    std::function<void(void*, Fields&)> fields;
    bool optional = false;  // null may be given
  };

 protected:
  virtual void on_value(const Key& key, ValueRef value, const Bounds& bounds) = 0;
  virtual void on_choice(const Key& key, const std::vector<std::string>& names, std::size_t& index) = 0;
  virtual void on_section(const Key& key, const Section& section) = 0;
  // `scalar` holds a value of the type wanted.
  virtual void on_scalar_or_section(const Key& key, const Section& section, Scalar scalar,
                                    const std::function<void(const Scalar&)>& set_all) = 0;
  virtual void on_kind(const Key& key, const Kind& kind) = 0;
  virtual void on_inherits(const Key& key, const Section& section, const Section& parent,
                           const std::function<void()>& copy) = 0;
  virtual void on_failed_check(std::string_view key, std::string_view message) = 0;

 private:
  template <class S>
  static Section section_of(S& spec) {
    return {&spec, typeid(S), [&spec](Fields& f) { spec.fields(f); }};
  }
  template <class S>
  static Kind kind_of(std::shared_ptr<S>& spec, bool optional);
};

template <class E>
void Fields::choice(std::string_view key, E& value, std::initializer_list<std::pair<const char*, E>> options,
                    std::string_view doc) {
  std::vector<std::string> names;
  std::vector<E> values;
  for (const auto& [name, option] : options) names.emplace_back(name), values.push_back(option);
  std::size_t index = 0;
  while (index < values.size() && !(values[index] == value)) ++index;
  if (index == values.size())
    throw std::logic_error("the value of '" + std::string(key) + "' is not among its choices");
  on_choice({key, doc, {}}, names, index);
  value = values[index];
}

template <class S>
void Fields::scalar_or_section(std::string_view key, S& spec, std::string_view doc) {
  on_scalar_or_section({key, doc, {}}, section_of(spec), Scalar(typename S::Scalar{}),
                       [&spec](const Scalar& value) { spec.set_all(std::get<typename S::Scalar>(value)); });
}

template <class S>
Fields::Kind Fields::kind_of(std::shared_ptr<S>& spec, bool optional) {
  return {S::kRegistry,
          [&spec]() { return std::shared_ptr<void>(spec); },
          [&spec]() {
            const S& pointed = *spec;
            return std::type_index(typeid(pointed));
          },
          [&spec](std::shared_ptr<void> made) { spec = std::static_pointer_cast<S>(std::move(made)); },
          [](void* pointed, Fields& f) { static_cast<S*>(pointed)->fields(f); },
          optional};
}

template <class S>
void Fields::inherits(std::string_view key, S& spec, const S& parent, std::string_view doc) {
  on_inherits({key, doc, {}}, section_of(spec), section_of(const_cast<S&>(parent)),
              [&spec, &parent]() { spec = parent; });
}

}  // namespace attnlab

#include "train/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>

#include "core/error.h"

namespace attnlab {
namespace {

std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}

void put_fixed(std::string& out, std::uint64_t value, int bytes) {  // little-endian
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7fU) | 0x80U);
  out += static_cast<char>(value);
}

// Wire types of protocol buffers.
enum Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_key(std::string& out, unsigned field, Wire wire) { put_varint(out, field << 3 | wire); }

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// Event.wall_time = 1, Event.step = 2.
std::string event_at(double time, std::int64_t step) {
  std::string out;
  put_key(out, 1, kFixed64);
  put_fixed(out, std::bit_cast<std::uint64_t>(time), 8);
  if (step == 0) return out;
  put_key(out, 2, kVarint);
  put_varint(out, static_cast<std::uint64_t>(step));
  return out;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown";
}

std::string tag_of(const std::string& name) {
  return name.starts_with("valid_") ? "valid/" + name.substr(6) : "train/" + name;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const auto table = crc_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xffU] ^ (crc >> 8);
  return ~crc;
}

std::string tf_record(std::string_view bytes) {
  const auto masked = [](std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8U; };
  std::string out;
  put_fixed(out, bytes.size(), 8);
  put_fixed(out, masked(crc32c(out)), 4);
  out += bytes;
  put_fixed(out, masked(crc32c(bytes)), 4);
  return out;
}

std::string version_event(double time) {
  std::string out = event_at(time, 0);
  put_bytes(out, 3, "brain.Event:2");  // Event.file_version
  return out;
}

std::string scalars_event(double time, std::int64_t step,
                          const std::vector<std::pair<std::string, double>>& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    std::string one;
    put_bytes(one, 1, tag);     // Summary.Value.tag
    put_key(one, 2, kFixed32);  // Summary.Value.simple_value
    put_fixed(one, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
    put_bytes(summary, 1, one);  // Summary.value
  }
  std::string out = event_at(time, step);
  put_bytes(out, 5, summary);  // Event.summary
  return out;
}

std::string restart_event(double time, std::int64_t step) {
  std::string out = event_at(time, step), session;
  put_key(session, 1, kVarint);  // SessionLog.status = START
  put_varint(session, 1);
  put_bytes(out, 7, session);  // Event.session_log
  return out;
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_step) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError("cannot create folder " + folder.string() + ": " + error.message());
  path_ = folder / fmt::format("events.out.tfevents.{:010.0f}.{}.{}.0", now(), host_name(), ::getpid());
  out_.open(path_, std::ios::binary | std::ios::app);
  append(version_event(now()));
  if (first_step > 1) append(restart_event(now(), first_step));
}

void EventFile::write(const Record& record) {
  std::vector<std::pair<std::string, double>> scalars;
  for (const auto& [name, value] : record.fields()) {
    if (name == "step" || std::holds_alternative<std::string>(value)) continue;
    const double number = std::holds_alternative<bool>(value) ? std::get<bool>(value) : record.number(name);
    scalars.emplace_back(tag_of(name), number);
  }
  append(scalars_event(now(), static_cast<std::int64_t>(record.number("step")), scalars));
}

void EventFile::append(const std::string& event) {
  out_ << tf_record(event) << std::flush;
  if (!out_) throw IoError("cannot write " + path_.string());
}

}  // namespace attnlab

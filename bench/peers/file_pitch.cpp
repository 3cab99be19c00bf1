#include "numbers.hpp"

using namespace peer;

constexpr const char* kName = "samples-peer.bin";
constexpr std::size_t kFrame = 200, kWindow = 2 * kFrame;

Int sample(std::size_t i) {
  const Int part = static_cast<Int>(i >> 14);
  if (part % 3 == 2) return 0;
  return static_cast<Int>(i) % (30 + part % 50) * 20 + noise(i, 1) % 100;
}

std::size_t input(std::size_t n) {
  File file(kName, "wb");
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<std::int16_t>(sample(i));
    file.write(&value, 1);
  }
  return n;
}

/// The lag at which a window is most like itself, 0 in silence.
Int period(const std::int16_t* window, std::size_t length) {
  Int loudness = 0;
  for (std::size_t i = 0; i < length; ++i) loudness += Int{window[i]} * window[i];
  if (loudness / static_cast<Int>(length) < 100) return 0;
  Int best = 0, found = 0;
  for (std::size_t lag = 20; lag < 100; ++lag) {
    Int sum = 0;
    for (std::size_t i = 0; i < length - lag; ++i) sum += Int{window[i]} * window[i + lag];
    const Int likeness = sum / static_cast<Int>(length - lag);
    if (lag == 20 || likeness > best) {
      best = likeness;
      found = static_cast<Int>(lag);
    }
  }
  return found;
}

// Windows are two frames, of which each is the second of one and the first of the next.
std::vector<Int> periods(std::size_t n) {
  constexpr std::size_t kFrames = 512;
  File file(kName, "rb");
  std::vector<std::int16_t> samples((kFrames + 1) * kFrame);
  std::vector<Int> result;
  result.reserve(n / kFrame + 1);
  std::size_t kept = 0;
  while (true) {
    const std::size_t all = kept + file.read(samples.data() + kept, samples.size() - kept);
    const bool ended = all < samples.size();
    const std::size_t frames = ended ? (all + kFrame - 1) / kFrame : all / kFrame;
    const std::size_t windows = frames > 0 ? frames - 1 : 0;
    const std::size_t before = result.size();
    result.resize(before + windows);
    parallel_for(
        windows,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            result[before + i] =
                period(samples.data() + i * kFrame, std::min(kWindow, all - i * kFrame));
          }
        },
        16);
    if (ended) return result;
    kept = all - windows * kFrame;
    std::memmove(samples.data(), samples.data() + windows * kFrame, kept * sizeof(std::int16_t));
  }
}

int main(int argc, char** argv) {
  return run(argc, argv, input, periods,
             [](std::size_t, const std::vector<Int>& found) { print(fingerprint(found)); });
}

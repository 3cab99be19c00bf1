// Numbers of the descriptors that the process of a job finds open, besides the standard streams.
#pragma once

namespace neslc {

inline constexpr int kRequestDescriptor = 3;  // the message with the request, to be read
inline constexpr int kAnswerDescriptor = 4;   // an empty file for the result
inline constexpr int kLifeDescriptor = 5;     // a pipe's end that nothing is written to

}  // namespace neslc

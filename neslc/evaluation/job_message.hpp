// The two messages of a job: what its process is given, and what it gives back.
#pragma once

#include "neslc/evaluation/job.hpp"
#include "neslc/evaluation/message.hpp"

namespace neslc {

/// `backend` holds the values. Throws what MessageWriter throws.
void write_request(int fd, const JobRequest& request, cvl::Backend& backend);
void write_result(int fd, const Executions& result, cvl::Backend& backend);

/// All but the values, which stand next: the request says which backend to make for them. Throws
/// what MessageReader throws.
JobRequest read_request(MessageReader& message);
Executions read_result(MessageReader& message);

}  // namespace neslc

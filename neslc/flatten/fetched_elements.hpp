// Sequences from several sources, put into one vector by fetching: each element from where its
// sequence lies.
//
// The sources are joined to one vector, of which the sequences are runs; their elements are then
// one fetch from it. In a kernel this vector is never made (fcode-opt/fusion/pieces.hpp), and where
// sequences of a source are runs of a longer vector already, as a[0] is, they are fetched from
// there. So slices that are appended are moved once, in one pass, in the order in which they are
// written. Without kernels it would be a copy too many, and one of all that the slices were cut
// from. What is computed goes straight to its place instead, and so does what stands beside it.
#pragma once

#include "neslc/flatten/vectors.hpp"

namespace neslc {

/// May the elements of sequences be fetched, and is that worth while? `sequences` are those of each
/// source. Only if several of them are slices: a fetch from one vector, or from a few. Not where
/// there is one from each: that is an append, which can be done in place.
bool fetches_elements(const ir::Builder& builder, const std::vector<Value>& sequences);

/// The elements of the sequences that place() puts into `target`, which `inner_target` describes.
/// REQUIRES: fetches_elements() of the sequences of the sources.
Value fetched_elements(Vectors& vectors, const std::vector<Vectors::Source>& sources,
                       ir::ValueId target, ir::ValueId inner_target);

}  // namespace neslc

// Tables of tokens, with adaptive clusters and projections: what the token embedding and the next-token head
// share.
#pragma once

#include "heed/model/builder.h"

namespace heed::model {

class Vocabulary {
 public:
  explicit Vocabulary(Builder& builder);

  size_t clusters() const { return clusters_; }
  // With one cluster and no projection there is only the table, and it may be packed.
  bool plain() const { return clusters_ == 1 && !b_.spec().projects(0); }
  bool packs() const { return b_.form().packs() && plain() && b_.form().end() != GraphEnd::kLoss; }
  // Clusters of one width are slices of one table.
  bool one_table() const { return b_.spec().embedding.division == 1; }
  std::vector<ValueId> tables(const std::string& name, WeightGroup group) const;
  // Of the embedding: one for each table, none if the tables are as wide as the model.
  std::vector<ValueId> embedding_projections() const;
  // Of the output: which projection each cluster uses. Those of the embedding where they are tied, even if
  // that has one for all clusters; a cluster's own where not.
  struct OutputProjections {
    std::vector<ValueId> projections;
    std::vector<int64_t> of_cluster;
  };
  OutputProjections output_projections(const std::vector<ValueId>& of_embedding) const;
  Initial table_initial() const;
  // Dropout between tables and projections: adaptive settings with a stream for each cluster, and where their
  // random numbers come from.
  template <class Settings>
  ValueId drop_inside(Settings& settings) const {
    const double rate = b_.spec().embedding.dropout;
    if (!b_.spec().projects(0) || !b_.drops(rate)) return kNone;  // all clusters project or none
    settings.dropout = rate;
    settings.stream = b_.next_stream();
    for (size_t i = 1; i < clusters_; ++i) b_.next_stream();
    return b_.rng();
  }

 private:
  ValueId projection(const std::string& name, size_t cluster, WeightGroup group) const;

  Builder& b_;
  size_t clusters_;
};

}  // namespace heed::model

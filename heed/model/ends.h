// Where tokens come in and where words go out: tables, adaptive clusters, projections, tied or not.
#pragma once

#include "heed/model/builder.h"

namespace heed::model {

class Ends {
 public:
  explicit Ends(Builder& builder);

  ValueId embed();  // the input "tokens" as [B, T, D]
  // What the purpose of the graph asks for; sets losses and loss, or scores.
  void finish(ValueId hidden);

 private:
  // With one cluster and no projection the table is all there is, and may be packed.
  bool plain() const { return clusters_ == 1 && !b_.spec().projects(0); }
  bool packs() const { return b_.use().packed && plain() && b_.use().purpose != Purpose::kLoss; }
  std::vector<ValueId> tables(const std::string& name, Part part);
  ValueId projection(const std::string& name, size_t cluster, Part part);
  Initial table_initial() const;
  Initial projection_initial(size_t cluster) const;
  // Dropout of one end: adaptive settings with a stream for each cluster, and where their numbers come from.
  template <class Settings>
  ValueId drop_inside(Settings& settings);

  Builder& b_;
  size_t clusters_;
  std::vector<ValueId> tables_, projections_;
};

}  // namespace heed::model

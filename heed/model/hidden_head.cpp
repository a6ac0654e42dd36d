#include "heed/model/heads.h"

namespace heed::model {

void hidden_head(Builder& builder, ValueId hidden, const Embedded&) { builder.model().scores = hidden; }

}  // namespace heed::model

/// The cases that use relations.
let relationCases: [any Case] =
  [Relations(), Lazy(), Reverse(), ReverseCount(), SavedGraph()] + RelationRead.all

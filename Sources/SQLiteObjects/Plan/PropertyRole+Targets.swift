extension PropertyRole {
  /// The type of the objects that a relation leads to.
  var target: (any MagicObject.Type)? {
    switch kind {
    case .object(let type), .links(_, let type): type
    case .column, .asset, .reverse: nil
    }
  }

  var isAsset: Bool {
    if case .asset = kind { true } else { false }
  }
}

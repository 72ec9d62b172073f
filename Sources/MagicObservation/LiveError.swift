/// An error of ``LiveResults``. Errors of fetches are those of the store.
public enum LiveError: Error, Hashable, Sendable {
  /// The view has no store. Set one with the view modifier `magicData(_:)`.
  case missingStore
}

extension LiveError: CustomStringConvertible {
  /// A description of the error in English.
  public var description: String {
    switch self {
    case .missingStore: "the view has no store; set one with magicData(_:)"
    }
  }
}

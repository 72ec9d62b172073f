import SPON

/// SPON as anybody may have written it.
package enum SPONText {
  /// Returns what was wrong, or nil: what can be read means the same when it is written anew.
  package static func check(_ bytes: [UInt8]) throws -> String? {
    do {
      try SPONFuzz.check(bytes)
      return nil
    } catch let failure as SPONFuzz.Failure {
      return failure.reason
    }
  }
}

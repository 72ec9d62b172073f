import SPON

/// Fuzzes SPON texts, as any program may have written them.
package enum SPONText {
  /// Returns a description of a fault, or nil. A text that can be read must have the same meaning
  /// after it is written again.
  package static func check(_ bytes: [UInt8]) throws -> String? {
    do {
      try SPONFuzz.check(bytes)
      return nil
    } catch let failure as SPONFuzz.Failure {
      return failure.reason
    }
  }
}

import ExactText

/// The name of a file in a store: 32 random hexadecimal digits, and perhaps an extension.
///
/// No other text becomes one, so that a name from a row that somebody wrote by hand cannot lead
/// out of the folder.
package struct AssetFileName: Hashable, Sendable {
  /// The whole name.
  package let text: String

  /// Makes a name that no file has.
  ///
  /// - Parameter fileExtension: What follows the dot; nothing does if it is nil or empty.
  /// - Throws: ``AssetError/invalidExtension(_:)``.
  package init(extension fileExtension: String?) throws(AssetError) {
    let random = UInt128.random(in: 0...UInt128.max).hexadecimal
    guard let fileExtension, !fileExtension.isEmpty else {
      text = random
      return
    }
    guard AssetFileName.isExtension(fileExtension) else { throw .invalidExtension(fileExtension) }
    text = "\(random).\(fileExtension)"
  }

  /// Takes the name of a file of the store; nil for anything else.
  package init?(_ text: String) {
    guard UInt128(hexadecimal: text.prefix(32)) != nil else { return nil }
    let rest = text.dropFirst(32)
    guard rest.isEmpty || rest.hasPrefix(".") && AssetFileName.isExtension(rest.dropFirst()) else {
      return nil
    }
    self.text = text
  }

  /// What follows the first dot, or nil.
  package var fileExtension: String? {
    text.utf8.count > 33 ? String(text.dropFirst(33)) : nil
  }

  private static func isExtension(_ text: some StringProtocol) -> Bool {
    guard (1...64).contains(text.utf8.count) else { return false }
    return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && $0.allSatisfy(isPlain) }
  }

  /// Whether `byte` is a letter, a digit, `+`, `-` or `_` of ASCII.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

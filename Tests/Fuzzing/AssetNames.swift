import MagicData

/// Fuzzes file names of assets in a hostile row: none may escape the store's folder.
package enum AssetNames {
  /// Returns a description of a fault, or nil.
  package static func check(_ bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    if let name = AssetFileName(text) {
      guard name.text == text, isPlain(text), text.utf8.count <= 97 else { return "taken: \(text)" }
    }
    if let name = try? AssetFileName(extension: text) {
      guard isPlain(name.text), AssetFileName(name.text) == name else {
        return "made: \(name.text)"
      }
      guard name.fileExtension == (text.isEmpty ? nil : text) else { return "cut: \(name.text)" }
    }
    if let id = AssetID(text), id.description != text { return "another id: \(id)" }
    return nil
  }

  /// Returns whether a text is a single path component without a special meaning.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch UInt8(byte) {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    } && !text.contains("..") && !text.hasPrefix(".")
  }
}

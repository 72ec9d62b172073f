import Essentials
import Platform

extension String {
  /// The text with each control character, line ends included, replaced by its escape (`\u{1B}`).
  package var visible: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if scalar.isControl {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The text in quotation marks for a message: visible, and cut after 60 scalars.
  package var quoted: String {
    let start = unicodeScalars.prefix(60)
    let isCut = start.endIndex < unicodeScalars.endIndex
    return "\"\(String(start).visible)\(isCut ? "…" : "")\""
  }
}

extension Unicode.Scalar {
  /// Whether a terminal may act on the scalar instead of showing it (general category Cc).
  package var isControl: Bool {
    value < 0x20 || (0x7F...0x9F).contains(value)
  }
}

/// Returns the system's words for an `errno`.
package func systemMessage(for code: Int32) -> String {
  unsafe String(cString: strerror(code))
}

/// Returns the system's words for why Foundation failed, or `error` itself where there are none.
package func systemMessage(for error: any Error) -> String {
  guard let system = (error as? CocoaError)?.underlying as? POSIXError else { return "\(error)" }
  return systemMessage(for: system.code.rawValue)
}

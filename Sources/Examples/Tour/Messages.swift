import Essentials
import Platform
import Terminal

/// Returns the operating system's message for the cause of a Foundation error, or the description
/// of `error` if it has no such cause.
package func systemMessage(for error: any Error) -> String {
  guard let system = (error as? CocoaError)?.underlying as? POSIXError else { return "\(error)" }
  return systemMessage(for: system.code.rawValue)
}

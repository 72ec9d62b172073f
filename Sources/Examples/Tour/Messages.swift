import Essentials
import Platform
import Terminal

/// Returns the system's words for why Foundation failed, or `error` itself where there are none.
package func systemMessage(for error: any Error) -> String {
  guard let system = (error as? CocoaError)?.underlying as? POSIXError else { return "\(error)" }
  return systemMessage(for: system.code.rawValue)
}

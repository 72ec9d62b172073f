import Essentials
import ExactText

/// The state that all parts of one decoding operation share.
final class DecodingState {
  let document: Document
  let decoder: SPONDecoder

  init(_ document: Document, _ decoder: SPONDecoder) {
    self.document = document
    self.decoder = decoder
  }

  /// Returns the key of the member with the token index `member`, converted by the key decoding
  /// strategy.
  func convertedKey(of member: Int) -> String {
    let key = document.key(of: member)
    return switch decoder.keyDecodingStrategy {
    case .convertFromSnakeCase: SnakeCase.camelCase(of: key)
    case .custom(let convert): convert(path(to: member)).stringValue
    default: key
    }
  }

  /// Returns the coding path from the outermost value to the value at the index `token`.
  func path(to token: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var token = token
    while document.tokens[token].parent >= 0 {
      let parent = document.tokens[token].parent
      path.append(
        document.tokens[parent].kind == .array
          ? PathKey(index: document.tokens[token].index) : PathKey(document.key(of: token)))
      token = parent
    }
    return path.reversed()
  }
}

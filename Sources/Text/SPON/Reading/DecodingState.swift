import ExactText

/// The state that all parts of one decoding share.
final class DecodingState {
  var document: Document
  let decoder: SPONDecoder
  let usesDefaultKeys: Bool
  /// Members by key, for objects with so many that looking at each takes too long, and for all where
  /// a strategy converts keys.
  private var members: [Int: [KeyText: Int]] = [:]

  init(_ document: Document, _ decoder: SPONDecoder) {
    self.document = document
    self.decoder = decoder
    usesDefaultKeys = if case .useDefaultKeys = decoder.keyDecodingStrategy { true } else { false }
  }

  /// The member of an object with a key.
  func member(_ key: String, of object: Int) -> Int? {
    guard usesDefaultKeys else { return indexedMember(key, of: object) }
    var key = key
    let found = key.withUTF8 { unsafe document.findMember($0, of: object) }
    switch found {
    case .found(let member):
      document.tokens[object].cursor = Int32(truncatingIfNeeded: member)
      return member
    case .absent: return nil
    case .unknown: return indexedMember(key, of: object)
    }
  }

  private func indexedMember(_ key: String, of object: Int) -> Int? {
    if members[object] == nil {
      var index: [KeyText: Int] = [:]
      forEachMember(of: object) { member in
        // Of keys that a strategy makes equal the first counts.
        let text = KeyText(text: convertedKey(of: member))
        if index[text] == nil { index[text] = member }
      }
      members[object] = index
    }
    let member = members[object]?[KeyText(text: key)]
    if let member { document.tokens[object].cursor = Int32(truncatingIfNeeded: member) }
    return member
  }

  func forEachMember(of object: Int, _ body: (Int) -> Void) {
    var member = object + 1
    let end = Int(document.tokens[object].next)
    while member < end {
      body(member)
      member = Int(document.tokens[member].next)
    }
  }

  /// The key of a member as the type knows it.
  func convertedKey(of member: Int) -> String {
    let key = document.key(of: member)
    return switch decoder.keyDecodingStrategy {
    case .useDefaultKeys: key
    case .convertFromSnakeCase: SnakeCase.camelCase(of: key)
    case .custom(let convert): convert(path(to: member)).stringValue
    }
  }

  /// The keys and positions that lead to a value.
  func path(to token: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var token = token
    while token >= 0, document.tokens[token].parent >= 0 {
      let parent = Int(document.tokens[token].parent)
      path.append(
        document.tokens[parent].kind == .array
          ? PathKey(index: Int(document.tokens[token].keyStart))
          : PathKey(document.key(of: token)))
      token = parent
    }
    return path.reversed()
  }
}

/// The result of looking at a few members.
enum MemberSearch {
  case found(Int)
  case absent
  /// There are too many to look at each.
  case unknown
}

extension Document {
  /// Looks for a member, first where the last one was found and behind it: types ask in the order in
  /// which they were written.
  func findMember(_ key: UnsafeBufferPointer<UInt8>, of object: Int) -> MemberSearch {
    let end = Int(tokens[object].next)
    guard end > object + 1 else { return .absent }
    let cursor = max(Int(tokens[object].cursor), object + 1)
    if unsafe hasKey(key, cursor) { return .found(cursor) }
    let following = Int(tokens[cursor].next)
    if following < end, unsafe hasKey(key, following) { return .found(following) }
    guard tokens[object].count <= 16 else { return .unknown }
    var member = object + 1
    while member < end {
      if unsafe hasKey(key, member) { return .found(member) }
      member = Int(tokens[member].next)
    }
    return .absent
  }

  private func hasKey(_ key: UnsafeBufferPointer<UInt8>, _ member: Int) -> Bool {
    let token = tokens[member]
    if token.keyHasEscapes {
      return unsafe resolved(bytes.span, token.keyRange).elementsEqual(key)
    }
    let start = Int(token.keyStart)
    guard Int(token.keyEnd) - start == key.count else { return false }
    for index in key.indices where unsafe bytes[start + index] != key[index] {
      return false
    }
    return true
  }
}

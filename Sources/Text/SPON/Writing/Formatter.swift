/// Rewrites a text in another form: with lines, with sorted keys, or as it was.
package struct Formatter {
  package let isPretty: Bool
  package let sortsKeys: Bool

  package init(isPretty: Bool, sortsKeys: Bool) {
    self.isPretty = isPretty
    self.sortsKeys = sortsKeys
  }

  package func format(_ bytes: [UInt8], maximumDepth: Int) throws -> [UInt8] {
    let document = try Document(bytes, maximumDepth: maximumDepth, maximumSize: .max)
    var text = TextBuffer()
    text.bytes.reserveCapacity(bytes.count)
    write(0, of: document, depth: 0, to: &text)
    return text.bytes
  }

  private func write(_ token: Int, of document: Document, depth: Int, to text: inout TextBuffer) {
    let value = document.tokens[token]
    switch value.kind {
    case .scalar:
      writeScalar(token, of: document, isMember: isMember(token, of: document), to: &text)
    case .object:
      if isMember(token, of: document) { text.append(Byte.equals) }
      text.append("@obj")
      if !value.range.isEmpty {
        text.append(Byte.colon)
        text.bytes.append(contentsOf: document.bytes[value.range])
      }
      text.append(Byte.openObject)
      var members = children(of: token, in: document)
      if sortsKeys {
        let keys = members.map { (key: Array(document.key(of: $0).utf8), member: $0) }
        members = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.member)
      }
      for (index, member) in members.enumerated() {
        if index > 0, !isPretty { text.append(Byte.space) }
        breakLine(depth + 1, &text)
        text.append(key: document.key(of: member))
        write(member, of: document, depth: depth + 1, to: &text)
      }
      if !members.isEmpty { breakLine(depth, &text) }
      text.append(Byte.closeObject)
    case .array:
      if isMember(token, of: document) { text.append(Byte.equals) }
      text.append("@array[")
      let elements = children(of: token, in: document)
      for (index, element) in elements.enumerated() {
        if index > 0 {
          text.append(Byte.comma)
          if !isPretty { text.append(Byte.space) }
        }
        breakLine(depth + 1, &text)
        write(element, of: document, depth: depth + 1, to: &text)
      }
      if !elements.isEmpty { breakLine(depth, &text) }
      text.append(Byte.closeArray)
    }
  }

  private func isMember(_ token: Int, of document: Document) -> Bool {
    let parent = Int(document.tokens[token].parent)
    return parent >= 0 && document.tokens[parent].kind == .object
  }

  private func children(of token: Int, in document: Document) -> [Int] {
    var children: [Int] = []
    var child = token + 1
    while child < document.tokens[token].next {
      children.append(child)
      child = Int(document.tokens[child].next)
    }
    return children
  }

  private func breakLine(_ depth: Int, _ text: inout TextBuffer) {
    guard isPretty else { return }
    text.append(0x0a)
    text.bytes.append(contentsOf: repeatElement(Byte.space, count: depth * 2))
  }

  private func writeScalar(
    _ token: Int, of document: Document, isMember: Bool, to text: inout TextBuffer
  ) {
    let designator = document.tokens[token].designator
    if designator == .null { return text.appendNull() }
    let content = document.text(of: token)
    // The seed's mark is never written: such a value becomes null or text.
    if designator == .described {
      if content == "<null>" { return text.appendNull() }
      return text.append(content, .text, isMember: isMember)
    }
    let isBare =
      ![.text, .date].contains(designator) && content.utf8.allSatisfy(\.isBareElement)
      && (designator == .data || !content.isEmpty)
    if !isMember, isBare {
      text.append(plain: content, designator, isMember: false)
    } else {
      text.append(content, designator, isMember: isMember)
    }
  }
}

/// A value that is being encoded, as a node of a tree.
///
/// The tree is written as text when it is complete, because a nested container or a super encoder
/// may be filled after the values that follow it.
package final class EncodedNode {
  package enum Kind {
    case empty, object, array, scalar
  }

  package enum Part {
    /// The byte range of a scalar in `EncodingState.scalars`, which contains the text of all
    /// scalars.
    case scalar(Range<Int>)
    case node(EncodedNode)
  }

  package var kind: Kind
  /// The name of an object's type with a leading colon; empty if no name is written.
  package var typeName: [UInt8]
  /// The keys of an object's members, in the same order as `parts`; empty for other kinds.
  package private(set) var keys: [String] = []
  package private(set) var parts: [Part] = []
  /// All keys as a set. Used only for objects with more than 16 members, for which a linear search
  /// is slow.
  private var manyKeys: Set<KeyText> = []

  package init(_ kind: Kind = .empty, typeName: [UInt8] = []) {
    self.kind = kind
    self.typeName = typeName
  }

  package func append(_ part: Part) { parts.append(part) }

  /// Appends a member, unless the object already has one with the same key.
  ///
  /// - Returns: Whether the member was appended.
  package func append(_ part: Part, key: String) -> Bool {
    let text = KeyText(text: key)
    if keys.count == 16 { manyKeys = Set(keys.map { KeyText(text: $0) }) }
    let isNew =
      keys.count < 16
      ? !keys.contains { KeyText(text: $0) == text } : manyKeys.insert(text).inserted
    guard isNew else { return false }
    keys.append(key)
    parts.append(part)
    return true
  }
}

/// A writer that converts a tree of nodes to text.
package struct NodeWriter {
  private let scalars: [UInt8]
  private let isPretty: Bool
  private let sortsKeys: Bool
  private var text = TextBuffer()

  /// Returns the text of a tree.
  ///
  /// - Parameters:
  ///   - root: The root of the tree.
  ///   - scalars: The text of all scalars, to which the byte ranges in the tree refer.
  ///   - isPretty: Whether each member and each element is on its own line.
  ///   - sortsKeys: Whether members are sorted by the UTF-8 bytes of their keys.
  package static func text(
    of root: EncodedNode.Part, _ scalars: TextBuffer, isPretty: Bool, sortsKeys: Bool
  ) -> [UInt8] {
    var writer = NodeWriter(scalars: scalars.bytes, isPretty: isPretty, sortsKeys: sortsKeys)
    writer.text.bytes.reserveCapacity(scalars.bytes.count * 2)
    writer.write(root, depth: 0)
    return writer.text.bytes
  }

  private init(scalars: [UInt8], isPretty: Bool, sortsKeys: Bool) {
    self.scalars = scalars
    self.isPretty = isPretty
    self.sortsKeys = sortsKeys
  }

  private mutating func write(_ part: EncodedNode.Part, depth: Int) {
    let node: EncodedNode
    switch part {
    case .scalar(let range): return text.bytes.append(contentsOf: scalars[range])
    case .node(let inner): node = inner
    }
    switch node.kind {
    case .scalar: node.parts.forEach { write($0, depth: depth) }
    case .empty, .object: writeObject(node, depth)
    case .array:
      text.append("@array[")
      for (index, element) in node.parts.enumerated() {
        if index > 0 { text.append(isPretty ? "," : ", ") }
        breakLine(depth + 1)
        write(element, depth: depth + 1)
      }
      if !node.parts.isEmpty { breakLine(depth) }
      text.append(Byte.closeArray)
    }
  }

  private mutating func writeObject(_ node: EncodedNode, _ depth: Int) {
    text.append("@obj")
    text.bytes.append(contentsOf: node.typeName)
    text.append(Byte.openObject)
    var order = Array(node.parts.indices)
    if sortsKeys {
      order.sort { node.keys[$0].utf8.lexicographicallyPrecedes(node.keys[$1].utf8) }
    }
    for (place, index) in order.enumerated() {
      if place > 0, !isPretty { text.append(Byte.space) }
      breakLine(depth + 1)
      text.append(key: node.keys[index])
      if node.parts[index].isContainer { text.append(Byte.equals) }
      write(node.parts[index], depth: depth + 1)
    }
    if !order.isEmpty { breakLine(depth) }
    text.append(Byte.closeObject)
  }

  private mutating func breakLine(_ depth: Int) {
    guard isPretty else { return }
    text.append(0x0a)
    text.bytes.append(contentsOf: repeatElement(Byte.space, count: depth * 2))
  }
}

extension EncodedNode.Part {
  fileprivate var isContainer: Bool {
    if case .node(let node) = self { node.kind != .scalar } else { false }
  }
}

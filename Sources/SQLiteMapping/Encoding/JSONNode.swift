import Essentials

/// A nested value that a type builds up piece by piece with `nestedContainer` or `superEncoder`.
final class JSONNode {
  private enum Content {
    case nothing
    case value(Data)
    case object([String: JSONNode])
    case array([JSONNode])
    /// The row has ended.
    case closed
  }

  private var content = Content.nothing

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  /// Ends the value: whatever is encoded into it later throws.
  func close() {
    var open = [self]
    while let node = open.popLast() {
      switch node.content {
      case .object(let members): open += members.values
      case .array(let elements): open += elements
      case .nothing, .value, .closed: break
      }
      node.content = .closed
    }
  }

  func set(_ value: some Encodable) throws {
    if case .closed = content { throw EncodedRow.gone }
    content = .value(try NestedJSON.encoder().encode(value))
  }

  func beginObject() {
    switch content {
    case .object, .closed: return
    default: break
    }
    content = .object([:])
  }

  func beginArray() {
    switch content {
    case .array, .closed: return
    default: break
    }
    content = .array([])
  }

  /// A node that leads nowhere, closed if this one is.
  private var sibling: JSONNode {
    let node = JSONNode()
    if case .closed = content { node.content = .closed }
    return node
  }

  /// The member of a name, made if there is none.
  func member(_ name: String) -> JSONNode {
    guard case .object(var members) = content else { return sibling }
    if let known = members[name] { return known }
    let node = JSONNode()
    members[name] = node
    content = .object(members)
    return node
  }

  /// A new element at the end.
  func element() -> JSONNode {
    let node = JSONNode()
    guard case .array(var elements) = content else { return sibling }
    elements.append(node)
    content = .array(elements)
    return node
  }

  /// The JSON of the value; one that encoded nothing is an empty object.
  func data() throws -> Data {
    switch content {
    case .nothing, .closed: return Data("{}".utf8)
    case .value(let data): return data
    case .array(let elements):
      var data = Data("[".utf8)
      for (index, element) in elements.enumerated() {
        if index > 0 { data.append(UInt8(ascii: ",")) }
        data.append(try element.data())
      }
      data.append(UInt8(ascii: "]"))
      return data
    case .object(let members):
      var data = Data("{".utf8)
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { data.append(UInt8(ascii: ",")) }
        data.append(try NestedJSON.encoder().encode(member.key))
        data.append(UInt8(ascii: ":"))
        data.append(try member.value.data())
      }
      data.append(UInt8(ascii: "}"))
      return data
    }
  }
}

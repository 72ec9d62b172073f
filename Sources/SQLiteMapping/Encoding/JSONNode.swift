#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A nested value that a type builds up piece by piece with `nestedContainer` or `superEncoder`.
final class JSONNode {
  private enum Content {
    case nothing
    case value(Data)
    case object([String: JSONNode])
    case array([JSONNode])
  }

  private var content = Content.nothing

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  func set(_ value: some Encodable) throws {
    content = .value(try NestedJSON.encoder().encode(value))
  }

  func beginObject() {
    if case .object = content { return }
    content = .object([:])
  }

  func beginArray() {
    if case .array = content { return }
    content = .array([])
  }

  /// The member of a name, made if there is none.
  func member(_ name: String) -> JSONNode {
    guard case .object(var members) = content else { return JSONNode() }
    if let known = members[name] { return known }
    let node = JSONNode()
    members[name] = node
    content = .object(members)
    return node
  }

  /// A new element at the end.
  func element() -> JSONNode {
    let node = JSONNode()
    guard case .array(var elements) = content else { return node }
    elements.append(node)
    content = .array(elements)
    return node
  }

  /// The JSON of the value; one that encoded nothing is an empty object.
  func data() throws -> Data {
    switch content {
    case .nothing: return Data("{}".utf8)
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

import Essentials
import SPON

/// Fuzzes SPON: any bytes are decoded or rejected, and a decoded document has the same meaning
/// after it is written again.
package enum SPONFuzz {
  /// A description of a fault.
  package struct Failure: Error {
    package let reason: String
  }

  /// Reads bytes as SPON.
  ///
  /// - Returns: Whether the bytes are valid SPON.
  /// - Throws: ``Failure`` if the parser or the writer has a fault.
  @discardableResult
  package static func check(_ bytes: [UInt8]) throws -> Bool {
    let document: Document
    do {
      document = try Document(bytes)
    } catch {
      guard (0...bytes.count).contains(error.offset) else {
        throw Failure(reason: "the offset \(error.offset) is outside of the text")
      }
      return false
    }
    // The decoder reads the whole document.
    _ = try? SPONDecoder().decode(Everything.self, fromBytes: bytes)
    for token in document.tokens.indices {
      _ = document.integer(of: token, as: Int64.self)
      _ = document.double(of: token)
    }
    let isSeeds = bytes.contains(Byte.ampersand) || bytes.contains(UInt8(ascii: "?"))
    let first = try rewritten(bytes, isPretty: false)
    let pretty = try rewritten(first, isPretty: true)
    guard try rewritten(pretty, isPretty: false) == first else {
      throw Failure(reason: "the text changes when it is written again")
    }
    let again = try Document(first)
    guard isSeeds || content(of: again) == content(of: document) else {
      throw Failure(reason: "the content changes when it is written again")
    }
    return true
  }

  private static func rewritten(_ bytes: [UInt8], isPretty: Bool) throws -> [UInt8] {
    do {
      let document = try Document(bytes)
      var scalars = TextBuffer()
      let root = part(0, of: document, isMember: false, &scalars)
      return NodeWriter.text(of: root, scalars, isPretty: isPretty, sortsKeys: false)
    } catch {
      throw Failure(reason: "the written text is rejected: \(error)")
    }
  }

  /// Returns a value of a document as an encoder would have created it.
  private static func part(
    _ token: Int, of document: Document, isMember: Bool, _ scalars: inout TextBuffer
  ) -> EncodedNode.Part {
    switch document.tokens[token].kind {
    case .scalar:
      let start = scalars.bytes.count
      append(token, of: document, isMember: isMember, to: &scalars)
      return .scalar(start..<scalars.bytes.count)
    case .array:
      let node = EncodedNode(.array)
      for element in document.children(of: token) {
        node.append(part(element, of: document, isMember: false, &scalars))
      }
      return .node(node)
    case .object:
      let name = document.typeName(of: token)
      let node = EncodedNode(.object, typeName: name.isEmpty ? [] : Array(":\(name)".utf8))
      for member in document.children(of: token) {
        let part = part(member, of: document, isMember: true, &scalars)
        _ = node.append(part, key: document.key(of: member))
      }
      return .node(node)
    }
  }

  private static func append(
    _ token: Int, of document: Document, isMember: Bool, to scalars: inout TextBuffer
  ) {
    let designator = document.tokens[token].designator
    let content = document.text(of: token)
    if designator == .null || designator == .described && content == "<null>" {
      return scalars.appendNull()
    }
    let isBare =
      ![.text, .date, .described].contains(designator)
      && content.utf8.allSatisfy { $0.isBareElement } && (designator == .data || !content.isEmpty)
    if !isMember, isBare {
      scalars.append(plain: content, designator, isMember: false)
    } else {
      scalars.append(
        content, designator == .described ? .text : designator, isMember: isMember)
    }
  }

  private static func content(of document: Document) -> [String] {
    document.tokens.indices.map { token in
      let value = document.tokens[token]
      let isMember = value.parent >= 0 && document.tokens[value.parent].kind == .object
      let key = isMember ? document.key(of: token) : ""
      let text = value.kind == .scalar ? document.text(of: token) : ""
      return "\(value.kind) \(value.designator) \(key) \(text)"
    }
  }
}

/// A type that decodes any value in every possible way.
private struct Everything: Decodable {
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
  }

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Key.self) {
      for key in object.allKeys { _ = try object.decode(Everything.self, forKey: key) }
    } else if var array = try? decoder.unkeyedContainer() {
      while !array.isAtEnd { _ = try array.decode(Everything.self) }
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() { return }
      _ = try? value.decode(Bool.self)
      _ = try? value.decode(String.self)
      _ = try? value.decode(Int8.self)
      _ = try? value.decode(UInt128.self)
      _ = try? value.decode(Double.self)
      _ = try? value.decode(Float.self)
      _ = try? value.decode(Date.self)
      _ = try? value.decode(Data.self)
      _ = try? value.decode(Decimal.self)
    }
  }
}

import ExactText

/// A place where one value is written: what a value's `encode(to:)` is handed.
struct EncodingPlace: Encoder {
  let output: EncodingOutput
  let index: Int
  let serial: Int

  var codingPath: [any CodingKey] { output.codingPath(index) }
  var userInfo: [CodingUserInfoKey: Any] { output.state.encoder.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    begin(.keyed)
    return KeyedEncodingContainer(KeyedPlace(place: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    begin(.unkeyed)
    return UnkeyedPlace(place: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SinglePlace(place: self) }

  /// Whether nothing that was begun later is still open.
  @inline(__always) var isInnermost: Bool {
    output.frames.count == index + 1 && output.frames[index].serial == serial
  }

  /// Begins an object or an array, or goes on with it.
  func begin(_ kind: EncodingFrame.Kind) {
    guard isInnermost else { return output.state.fail(outOfTurn()) }
    let frame = output.frames[index]
    guard frame.kind == .empty else {
      if frame.kind != kind {
        output.state.fail(
          EncodingError.invalidValue((), output.context("the value is encoded in two kinds")))
      }
      return
    }
    guard output.checkDepth() else { return }
    output.frames[index].kind = kind
    if frame.isMember { output.text.append(Byte.equals) }
    if kind == .keyed {
      output.text.append("@obj")
      output.appendTypeName(frame)
      output.text.append(Byte.openObject)
    } else {
      output.text.append("@array[")
    }
  }

  /// Begins the next element of the array.
  @inline(__always) func beginElement() throws {
    guard isInnermost else { throw outOfTurn() }
    if output.frames[index].count > 0 {
      output.text.append(Byte.comma)
      output.text.append(Byte.space)
    }
    output.frames[index].count += 1
  }

  /// Begins the next member of the object.
  func beginMember(_ key: some CodingKey) throws {
    guard isInnermost else { throw outOfTurn() }
    if output.frames[index].count > 0 { output.text.append(Byte.space) }
    let name = output.state.usesDefaultKeys ? key.stringValue : converted(key)
    let hash = output.text.append(key: name)
    try addKey(name, hash)
    output.frames[index].count += 1
  }

  private func converted(_ key: some CodingKey) -> String {
    switch output.state.encoder.keyEncodingStrategy {
    case .useDefaultKeys: key.stringValue
    case .convertToSnakeCase: SnakeCase.snakeCase(of: key.stringValue)
    case .custom(let convert): convert(codingPath + [key]).stringValue
    }
  }

  /// Notes the key, unless the object has it.
  private func addKey(_ name: String, _ hash: UInt32) throws {
    if output.frames[index].count < 16 {
      for key in output.keys[output.frames[index].firstKey...]
      where key.hash == hash && KeyText(text: key.text) == KeyText(text: name) {
        throw twice(name)
      }
      output.keys.append(EncodedKey(hash: hash, text: name))
    } else {
      if output.frames[index].manyKeys == nil {
        let keys = output.keys[output.frames[index].firstKey...]
        output.frames[index].manyKeys = Set(keys.map { KeyText(text: $0.text) })
      }
      let inserted = output.frames[index].manyKeys?.insert(KeyText(text: name)).inserted
      if inserted == false { throw twice(name) }
    }
  }

  /// Writes a member, all of it or nothing.
  func member(_ key: some CodingKey, _ write: () throws -> Void) throws {
    let mark = output.mark
    do {
      try beginMember(key)
      try write()
    } catch {
      output.rollBack(to: mark, openFrames: index)
      throw error
    }
  }

  /// Writes an element, all of it or nothing.
  func element(_ write: () throws -> Void) throws {
    let mark = output.mark
    do {
      try beginElement()
      try write()
    } catch {
      output.rollBack(to: mark, openFrames: index)
      throw error
    }
  }

  private func twice(_ name: String) -> EncodingError {
    .invalidValue(name, output.context("the key “\(name)” is encoded twice"))
  }

  func outOfTurn() -> EncodingError {
    .invalidValue(
      (), output.context("a container is used while one inside it is open, or after its value"))
  }
}

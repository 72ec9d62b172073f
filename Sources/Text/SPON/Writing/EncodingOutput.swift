/// A piece of text that is being written, with the values in it that are open.
///
/// A value that is encoded in one go, as nearly all are, is written to the text at once. A nested container
/// or a super encoder, which may be filled later, is a piece of its own, inserted at the end.
final class EncodingOutput {
  let state: EncodingState
  var text = TextBuffer()
  var frames: [EncodingFrame] = []
  /// The keys of the open objects, to find one that comes twice.
  var keys: [EncodedKey] = []
  /// The keys of the values that are open, one for each frame but the first.
  var path: [any CodingKey] = []
  private let basePath: [any CodingKey]
  /// How many containers are around this piece.
  private let baseDepth: Int
  private var pieces: [(position: Int, output: EncodingOutput)] = []
  private var serial = 0

  init(_ state: EncodingState, path: [any CodingKey], depth: Int) {
    self.state = state
    basePath = path
    baseDepth = depth
  }

  /// The path to the value of the frame at `index`.
  func codingPath(_ index: Int) -> [any CodingKey] { basePath + path.prefix(index) }

  /// Opens a value.
  func open(_ type: Any.Type?, isMember: Bool) -> ValueWriter {
    serial &+= 1
    frames.append(
      EncodingFrame(serial: serial, type: type, isMember: isMember, firstKey: keys.count))
    return ValueWriter(output: self, index: frames.count - 1, serial: serial)
  }

  /// Closes the innermost value.
  func close() {
    guard let frame = frames.popLast() else { return }
    end(frame)
    if keys.count > frame.firstKey { keys.removeLast(keys.count - frame.firstKey) }
  }

  private func end(_ frame: EncodingFrame) {
    switch frame.kind {
    case .keyed: text.append(Byte.closeObject)
    case .unkeyed: text.append(Byte.closeArray)
    case .scalar: break
    case .empty:
      // A value that encodes nothing is an object without members.
      if frame.isMember { text.append(Byte.equals) }
      text.append("@obj")
      appendTypeName(frame)
      text.append("<>")
    }
  }

  func appendTypeName(_ frame: EncodingFrame) {
    guard state.writesTypeNames, let type = frame.type else { return }
    text.bytes.append(contentsOf: state.name(of: type))
  }

  /// Makes a piece that is put in here when all is written.
  func addPiece(_ key: any CodingKey, of index: Int, isMember: Bool) -> ValueWriter {
    let piece = EncodingOutput(
      state, path: codingPath(index) + [key], depth: baseDepth + frames.count)
    pieces.append((text.bytes.count, piece))
    return piece.open(nil, isMember: isMember)
  }

  /// Counts one more container, unless that is too deep.
  func checkDepth() -> Bool {
    guard baseDepth + frames.count > state.encoder.maximumDepth else { return true }
    state.fail(
      EncodingError.invalidValue(
        (), context("the value is nested more than \(state.encoder.maximumDepth) deep")))
    return false
  }

  /// The lengths of everything that was written so far.
  var mark: EncodingMark {
    EncodingMark(
      bytes: text.bytes.count, keys: keys.count, path: path.count, frames: frames.count,
      pieces: pieces.count, count: frames.last?.count ?? 0)
  }

  /// Takes back what was written after a mark, so that a program may go on after an error.
  func rollBack(to mark: EncodingMark, openFrames index: Int) {
    // Out of turn: then nothing was written.
    guard frames.count >= mark.frames, mark.frames == index + 1 else { return }
    text.bytes.removeLast(text.bytes.count - mark.bytes)
    frames.removeLast(frames.count - mark.frames)
    path.removeLast(path.count - mark.path)
    pieces.removeLast(pieces.count - mark.pieces)
    if frames[index].count > mark.count, frames[index].manyKeys == nil {
      keys.removeLast(keys.count - mark.keys)
    }
    frames[index].count = mark.count
  }

  func context(_ reason: String) -> EncodingError.Context {
    EncodingError.Context(codingPath: basePath + path, debugDescription: reason)
  }

  /// All text, with the pieces inserted.
  func finished() throws -> [UInt8] {
    if let failure = state.failure { throw failure }
    guard !pieces.isEmpty || !frames.isEmpty else { return text.bytes }
    var result: [UInt8] = []
    result.reserveCapacity(text.bytes.count)
    write(to: &result)
    return result
  }

  private func write(to result: inout [UInt8]) {
    while !frames.isEmpty { close() }
    var copied = 0
    for (position, output) in pieces {
      result.append(contentsOf: text.bytes[copied..<position])
      output.write(to: &result)
      copied = position
    }
    result.append(contentsOf: text.bytes[copied...])
  }
}

/// How much of everything there was at a moment.
struct EncodingMark {
  let bytes, keys, path, frames, pieces, count: Int
}

/// A value that is open.
struct EncodingFrame {
  enum Kind {
    case empty, keyed, unkeyed, scalar
  }

  let serial: Int
  /// The type that the value's object is named after.
  var type: Any.Type?
  let isMember: Bool
  let firstKey: Int
  var kind = Kind.empty
  var count = 0
  /// All keys, once there are too many to look at each.
  var manyKeys: Set<KeyText>?
}

/// A key that was written.
struct EncodedKey {
  let hash: UInt32
  let text: String
}

extension EncodingOutput {
  func encodeRoot<T: Encodable>(_ value: T) throws {
    let writer = open(T.self, isMember: false)
    var container = SingleWriter(writer: writer)
    try container.encode(value)
    close()
  }
}

/// The state that all parts of one encoding share.
final class EncodingState {
  let encoder: SPONEncoder
  let writesTypeNames: Bool
  let usesDefaultKeys: Bool
  /// The first error that happened in a function that cannot throw, such as one that returns a container.
  var failure: (any Error)?
  private var typeNames: [ObjectIdentifier: [UInt8]] = [:]

  init(_ encoder: SPONEncoder) {
    self.encoder = encoder
    writesTypeNames = !encoder.outputFormatting.contains(.withoutTypeNames)
    usesDefaultKeys = if case .useDefaultKeys = encoder.keyEncodingStrategy { true } else { false }
  }

  /// The name of a type as an object carries it, with its colon.
  func name(of type: Any.Type) -> [UInt8] {
    let id = ObjectIdentifier(type)
    if let name = typeNames[id] { return name }
    let name = TypeName.bytes(of: type)
    typeNames[id] = name
    return name
  }

  func fail(_ error: @autoclosure () -> any Error) {
    if failure == nil { failure = error() }
  }
}

/// Names of types in objects: `Address`, `Page(Int)`, `Dictionary`.
enum TypeName {
  static func bytes(of type: Any.Type) -> [UInt8] {
    let name = String(describing: type)
    // The seed of this library named dictionaries so, whatever was in them.
    if name.hasPrefix("Dictionary<") { return Array(":Dictionary".utf8) }
    var bytes: [UInt8] = [Byte.colon]
    for byte in name.utf8 {
      switch byte {
      case Byte.openObject: bytes.append(UInt8(ascii: "("))
      case Byte.closeObject: bytes.append(UInt8(ascii: ")"))
      // The name of a type in back-quotes can have any character.
      case 0..<0x20, 0x7f, Byte.quote: bytes.append(UInt8(ascii: "_"))
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}

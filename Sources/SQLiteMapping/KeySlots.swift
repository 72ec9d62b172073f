/// The columns or parameters that the coding keys of one type stand for, found once per statement.
///
/// A key of one byte or none, which is what an enumeration is, is told by that byte alone. Others
/// are told by their name.
final class KeySlots<Key: CodingKey> {
  /// What a key stands for that has nothing in this statement.
  static var none: Int32 { -1 }

  /// By the key's byte; ``unknown`` where it was not looked up yet.
  private var bytes: [Int32] = []
  private var names: [String: Int32] = [:]
  private let find: (Key) -> Int32
  private static var unknown: Int32 { -2 }

  /// Prepares to look keys up.
  ///
  /// - Parameter find: Returns what a key stands for, or ``none``.
  init(_ find: @escaping (Key) -> Int32) {
    self.find = find
  }

  subscript(key: Key) -> Int32 {
    guard MemoryLayout<Key>.size <= 1 else { return slot(named: key) }
    let byte = MemoryLayout<Key>.size == 0 ? 0 : unsafe Self.byte(of: key)
    if byte < bytes.count, bytes[byte] != Self.unknown { return bytes[byte] }
    return newSlot(of: key, byte)
  }

  /// The only byte of a key. A value of one byte holds no reference, so its byte is all of it.
  @unsafe private static func byte(of key: Key) -> Int {
    unsafe withUnsafeBytes(of: key) { unsafe Int($0[0]) }
  }

  @inline(never)
  private func newSlot(of key: Key, _ byte: Int) -> Int32 {
    while bytes.count <= byte { bytes.append(Self.unknown) }
    bytes[byte] = find(key)
    return bytes[byte]
  }

  @inline(never)
  private func slot(named key: Key) -> Int32 {
    let name = key.stringValue
    if let slot = names[name] { return slot }
    let slot = find(key)
    names[name] = slot
    return slot
  }
}

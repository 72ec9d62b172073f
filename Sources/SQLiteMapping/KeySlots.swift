/// The columns or parameters that the coding keys of one type stand for, found once per statement.
///
/// A key of one byte or none, which is what an enumeration is, is told by that byte alone. Others
/// are told by their name.
@safe final class KeySlots<Key: CodingKey> {
  /// What a key stands for that has nothing in this statement.
  static var none: Int32 { -1 }
  private static var unknown: Int32 { -2 }

  /// By the key's byte; ``unknown`` where it was not looked up yet. An array would cost a check for
  /// exclusive access at each of its uses. Nil for keys of more bytes.
  let bytes: UnsafeMutablePointer<Int32>?
  private var names: [String: Int32] = [:]
  private let find: (Key) -> Int32

  /// Prepares to look keys up.
  ///
  /// - Parameter find: Returns what a key stands for, or ``none``.
  init(_ find: @escaping (Key) -> Int32) {
    self.find = find
    guard MemoryLayout<Key>.size <= 1 else {
      unsafe bytes = nil
      return
    }
    let bytes = UnsafeMutablePointer<Int32>.allocate(capacity: 256)
    unsafe bytes.initialize(repeating: Self.unknown, count: 256)
    unsafe self.bytes = unsafe bytes
  }

  deinit {
    unsafe bytes?.deallocate()
  }

  @inline(__always)
  subscript(key: Key) -> Int32 {
    guard let bytes = unsafe bytes else { return slot(named: key) }
    let slot = unsafe bytes[byte(of: key)]
    return slot == Self.unknown ? newSlot(of: key) : slot
  }

  /// The only byte of a key. A value of one byte holds no reference, so its byte is all of it.
  @inline(__always)
  private func byte(of key: Key) -> Int {
    MemoryLayout<Key>.size == 0 ? 0 : unsafe Int(unsafeBitCast(key, to: UInt8.self))
  }

  @inline(never)
  private func newSlot(of key: Key) -> Int32 {
    let slot = find(key)
    unsafe bytes?[byte(of: key)] = slot
    return slot
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

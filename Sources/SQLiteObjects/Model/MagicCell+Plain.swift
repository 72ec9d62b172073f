public import Essentials
import SQLiteCore

// The values of the types that SQLite stores as they are. What is inlinable here is compiled for each
// type in the module that declares the property, where the comparisons of types cost nothing
// (benchmark `fetch`). Each cast is from a type to itself, which the comparison before it has proved.
extension MagicCell {
  /// The value, or nil if there is none.
  @inlinable func value<Value: Codable>(_ type: Value.Type) -> Value? {
    if Value.self == String.self {
      if let text { return unsafe unsafeBitCast(text, to: type) }
    } else if Value.self == Int.self {
      if let integer, let narrow = Int(exactly: integer) {
        return unsafe unsafeBitCast(narrow, to: type)
      }
    } else if Value.self == Int64.self {
      if let integer { return unsafe unsafeBitCast(integer, to: type) }
    } else if Value.self == Double.self {
      if let real { return unsafe unsafeBitCast(real, to: type) }
    } else if Value.self == Bool.self {
      if let integer { return unsafe unsafeBitCast(integer != 0, to: type) }
    } else if Value.self == Data.self {
      if let data { return unsafe unsafeBitCast(data, to: type) }
    } else if MemoryLayout<Value>.size > 0,
      MemoryLayout<Value>.size.isMultiple(of: MemoryLayout<MagicCell>.size),
      MemoryLayout<Value>.alignment == MemoryLayout<MagicCell>.alignment
    {
      // It may be an object that is nothing but cells.
      if let object = object(type) { return object }
    }
    return converted(type)
  }

  /// The object that a relation of a fetched object leads to, if it is nothing but cells.
  ///
  /// Made where the property is declared, without looking for the type's conformance: ten times as fast
  /// as by ``converted(_:)`` (benchmark `relation-read`).
  @inlinable func object<Object>(_ type: Object.Type) -> Object? {
    unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { room in
      guard let start = room.baseAddress,
        unsafe initialize(UnsafeMutableRawPointer(start), as: ObjectIdentifier(type))
      else { return nil }
      return unsafe start.move()
    }
  }

  /// Sets the value, as a change to be saved.
  @inlinable func setValue<Value: Codable>(_ value: Value) {
    if Value.self == String.self {
      setText(unsafe unsafeBitCast(value, to: String.self))
    } else if Value.self == Int.self {
      setInteger(Int64(unsafe unsafeBitCast(value, to: Int.self)))
    } else if Value.self == Int64.self {
      setInteger(unsafe unsafeBitCast(value, to: Int64.self))
    } else if Value.self == Double.self {
      setReal(unsafe unsafeBitCast(value, to: Double.self))
    } else if Value.self == Bool.self {
      setInteger(unsafe unsafeBitCast(value, to: Bool.self) ? 1 : 0)
    } else if Value.self == Data.self {
      setData(unsafe unsafeBitCast(value, to: Data.self))
    } else {
      setLive(value)
    }
  }

  @usableFromInline var text: String? {
    read { if case .stored(.text(let text)) = $0 { text } else { nil } }
  }

  @usableFromInline var integer: Int64? {
    read { if case .stored(.integer(let integer)) = $0 { integer } else { nil } }
  }

  @usableFromInline var real: Double? {
    read { form in
      switch form {
      case .stored(.real(let real)): real
      case .stored(.integer(let integer)): Double(exactly: integer)
      // A NaN is found by ``converted(_:)``, which holds no lock.
      default: nil
      }
    }
  }

  @usableFromInline var data: Data? {
    if case .data(let data) = form { data } else { nil }
  }

  @usableFromInline func setText(_ text: String) { set(.stored(.text(text))) }

  @usableFromInline func setInteger(_ integer: Int64) { set(.stored(.integer(integer))) }

  @usableFromInline func setReal(_ real: Double) {
    // A NaN is kept as it is, and refused when it shall be stored.
    set(real.isNaN ? .live(LiveValue(real)) : .stored(.real(real)))
  }

  @usableFromInline func setData(_ data: Data) { set(.data(data)) }

  @usableFromInline func setNull() { set(.stored(.null)) }
}

public import Essentials
import SQLiteAssets
import SQLiteCore
import SQLiteMapping

extension _MagicCell {
  /// Sets the property to a value of a type that SQLite doesn't store.
  ///
  /// Consumes the value: a copy of an object would retain each of its properties (benchmark
  /// `save-graph`).
  @usableFromInline func setLive<Value: Codable>(_ value: consuming Value) {
    if Value.self is any AssetValue.Type, let asset = copy value as? any AssetValue {
      set(.live(_LiveValue(asset.withoutContent)))
    } else {
      set(.live(_LiveValue(value)))
    }
  }

  /// Returns the value of the property if its type isn't one that SQLite stores directly. Returns
  /// nil if no value was set, or if NULL is stored for a property that isn't an asset.
  @usableFromInline func converted<Value: Codable>(_ type: Value.Type) -> Value? {
    switch form {
    case .unset: nil
    case .stored(let stored):
      asset(type, stored)
        ?? (stored.isNull ? nil : try? ColumnStorage.value(type, of: stored))
    case .data(let data): data as? Value
    case .live(let live): Value.self is any AssetValue.Type ? asset(live) : held(live)
    case .reference, .links, .targets, .lazy: related(type)
    }
  }

  /// Returns the value that NULL represents if the cell stores NULL and `type` is an optional type,
  /// as in `@MagicValue var age: Int?`. Returns nil in any other case.
  @usableFromInline func null<Value: Codable>(_ type: Value.Type) -> Value? {
    guard case .stored(.null) = form else { return nil }
    return try? ColumnStorage.value(type, of: .null)
  }

  /// Returns the property's asset, given its stored id. Returns nil if the property isn't an asset
  /// or is an optional one that is nil.
  private func asset<Value>(_ type: Value.Type, _ stored: SQLiteCore.Value) -> Value? {
    guard let type = Value.self as? any AssetValue.Type, let address else { return nil }
    if stored.isNull, address.storage.shape.properties[address.slot].role.isOptional { return nil }
    let asset = type.init(address.storage.assetHandle(at: address.slot))
    // A lazy value is cached, so that the next save finds changes that are made through it.
    guard asset is any LazyValue else { return asset.sharingContent as? Value }
    return self.asset(cache(_LiveValue(asset)))
  }

  /// Returns an asset that was set, or a lazy asset that was cached, as the property's type.
  private func asset<Value>(_ live: _LiveValue) -> Value? {
    (live.value as? any AssetValue)?.sharingContent as? Value
  }

  /// Returns a value that was set or decoded, as the property's type. Stops the program if the
  /// value is a decoded relation that wasn't resolved.
  private func held<Value>(_ live: _LiveValue) -> Value? {
    if let keys = live.value as? RelationKeys {
      // Programmer error: a relation of a decoded object was read before it was resolved.
      fatalError(keys.unresolved)
    }
    return live.value as? Value
  }

  /// Returns the object, the collection of objects or the lazy value of a fetched object's
  /// relation. Stops the program if it can't be created.
  private func related<Value>(_ type: Value.Type) -> Value? {
    guard let (storage, slot, context) = address else { return nil }
    do {
      return try storage.reading(slot) { form, _ in
        try related(type, form, storage, slot, context)
      }
    } catch {
      // Programmer error: the type encodes varying properties, or keys that it can't decode.
      fatalError("a relation cannot be read: \(error)")
    }
  }

  private func related<Value>(
    _ type: Value.Type, _ form: _CellValue.Form, _ storage: ObjectStorage, _ slot: Int,
    _ context: FetchContext?
  ) throws -> Value? {
    switch form {
    case .reference(let zIndex):
      guard let type = Value.self as? any MagicObject.Type else { return nil }
      return try context?.object(type, zIndex) as? Value
    case .links:
      guard let type = Value.self as? any MagicCollection.Type else { return nil }
      if storage.shape.properties[slot].role.isOptional,
        context?.links(of: storage, slot: slot).targets.isEmpty ?? true
      {
        return nil
      }
      return try context?.collection(type, of: storage, slot: slot) as? Value
    case .targets(let targets):
      if let type = Value.self as? any MagicObject.Type {
        return try targets.first.flatMap { try context?.object(type, $0) } as? Value
      }
      guard let type = Value.self as? any MagicCollection.Type else { return nil }
      return try context?.collection(type, of: targets) as? Value
    case .lazy:
      guard let type = Value.self as? any LazyValue.Type else { return nil }
      let source = storage.lastIdentity.map { identity in
        LazySource(
          content: identity.content, shape: storage.shape, slot: slot, zIndex: identity.zIndex)
      }
      // If the object was removed, the methods of the value throw. The value is cached, so that the
      // next save finds changes that are made through it.
      return cache(_LiveValue(type.init(source: source))).value as? Value
    case .unset, .stored, .data, .live: return nil
    }
  }
}

extension _CellValue {
  /// Converts a stored value to the content of a cell. Converting it now ensures that reading the
  /// property later can't fail.
  static func of<Value: Codable>(
    _ type: Value.Type, stored: SQLiteCore.Value
  ) throws -> _CellValue {
    if ColumnStorage.plainValue(type, of: stored) != nil { return _CellValue(.stored(stored)) }
    let value = try ColumnStorage.value(type, of: stored)
    if let data = value as? Data { return _CellValue(.data(data)) }
    return _CellValue(.live(_LiveValue(value)))
  }
}

extension _LiveValue {
  /// Returns the stored form of the value.
  ///
  /// - Throws: `SQLiteError` or an encoding error if the value isn't of the type or can't be
  ///   stored.
  func stored<Value: Codable>(as type: Value.Type) throws -> SQLiteCore.Value {
    guard let value = value as? Value else {
      throw SQLiteError(.mismatch, "the property contains a value of another type")
    }
    return try ColumnStorage.stored(value)
  }
}

extension _PropertyRole {
  /// Returns the role of a property with values of a type.
  static func of(_ type: Any.Type) -> _PropertyRole {
    if let role = ofObjects(type) { return role }
    let storage = ColumnStorage(of: type)
    var role = _PropertyRole(.column(storage))
    role.isOptional = storage.isOptional
    return role
  }

  /// Returns the role of a relation, an asset or a lazy value, or nil for a type with other values.
  /// Unlike ``of(_:)``, never decodes a value of such a type to determine its column.
  static func ofObjects(_ type: Any.Type) -> _PropertyRole? {
    if let type = type as? any LazyValue.Type {
      var role = type.role
      role.isLazy = true
      return role
    }
    if let type = type as? any MagicObject.Type { return _PropertyRole(.object(type)) }
    if let type = type as? any MagicCollection.Type {
      var role = type.magicRole
      role.collection = type as? any ContiguousObjects.Type
      return role
    }
    return type is any AssetValue.Type ? _PropertyRole(.asset) : nil
  }
}

// Values of the types that SQLite stores directly. The inlinable code is compiled for each type in
// the module that declares the property, where the comparisons of types cost nothing (benchmark
// `fetch`). Each cast is from a type to itself, as the comparison before it proves.
extension _MagicCell {
  /// Returns the property's value, or nil if none was set.
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
      MemoryLayout<Value>.size.isMultiple(of: MemoryLayout<_MagicCell>.size),
      MemoryLayout<Value>.alignment == MemoryLayout<_MagicCell>.alignment
    {
      // The type may be a struct that contains only cells.
      if let object = object(type) { return object }
    }
    return converted(type)
  }

  /// Returns the object that a relation of a fetched object references. Returns nil if the cell
  /// contains no such relation, or if the object's type may not consist of cells only.
  ///
  /// The object is created in the module that declares the property, without a lookup of the type's
  /// conformance. That is ten times as fast as ``converted(_:)`` (benchmark `relation-read`).
  @inlinable func object<Object>(_ type: Object.Type) -> Object? {
    unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { room in
      guard let start = room.baseAddress,
        unsafe initialize(UnsafeMutableRawPointer(start), as: ObjectIdentifier(type))
      else { return nil }
      return unsafe start.move()
    }
  }

  /// Sets the property's value. If the object is in a store, the value is a pending change.
  @inlinable func setValue<Value: Codable>(_ value: consuming Value) {
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
      // ``converted(_:)`` returns a NaN, and holds no lock.
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
    // A NaN is stored unconverted. The save then throws an error.
    set(real.isNaN ? .live(_LiveValue(real)) : .stored(.real(real)))
  }

  @usableFromInline func setData(_ data: Data) { set(.data(data)) }

  @usableFromInline func setNull() { set(.stored(.null)) }
}

import SQLiteCore

import Essentials

/// How a property's value is read of a row: decided once for each property, and not for each value by
/// its type, which would cost run-time metadata of generic types.
struct ColumnReader: Sendable {
  enum Kind: Sendable {
    /// The key is the value.
    case key
    case text
    case integer
    case real
    case boolean
    case data
    /// The z_index of another object.
    case reference
    /// That of one that is fetched on demand: it is left alone.
    case lazyReference
    /// As the property's type says.
    case other
    /// There is no column.
    case none
  }

  let kind: Kind
  let isOptional: Bool
  /// What a property without a column holds.
  let absent: CellContent.Form

  init(_ property: ObjectProperty) {
    isOptional = property.role.isOptional
    kind = ColumnReader.kind(of: property)
    absent =
      switch property.role.kind {
      case .links: property.role.isLazy ? .lazy : .links
      case .column, .object, .asset, .reverse: .unset
      }
  }

  /// Whether a value may lead to objects and hold them.
  var mayHoldOthers: Bool {
    switch kind {
    case .reference, .lazyReference, .other, .none: true
    case .key, .text, .integer, .real, .boolean, .data: false
    }
  }

  private static func kind(of property: ObjectProperty) -> Kind {
    switch property.role.kind {
    case .column: property.role.countsUp ? .key : property.type.columnKind
    case .object: property.role.isLazy ? .lazyReference : .reference
    case .asset: .other
    case .links, .reverse: .none
    }
  }

  /// Reads a column, or returns nil if what it stores is to be converted or refused.
  func form(of row: StatementHandle, at column: Int32) -> CellContent.Form? {
    switch kind {
    case .text:
      if let text = row.text(at: column) { return .stored(.text(text)) }
    case .integer:
      if let integer = row.integer(at: column) { return .stored(.integer(integer)) }
    case .real:
      if let real = row.real(at: column) { return .stored(.real(real)) }
    case .boolean:
      if let integer = row.integer(at: column), integer == 0 || integer == 1 {
        return .stored(.integer(integer))
      }
    case .data:
      if let data = row.data(at: column, ofText: false) { return .data(data) }
    case .reference:
      if let target = row.integer(at: column) { return .reference(target) }
    case .lazyReference:
      // What is nil is known; what is not optional and gone is told when it is asked for.
      if !isOptional || !row.isNull(at: column) { return .lazy }
    case .key, .other, .none: return nil
    }
    return isOptional && row.isNull(at: column) ? .stored(.null) : nil
  }
}

extension MagicProperty {
  /// How the property's values are read.
  fileprivate static var columnKind: ColumnReader.Kind {
    func isOne(of type: Any.Type, _ optional: Any.Type) -> Bool {
      Value.self == type || Value.self == optional
    }
    if isOne(of: String.self, String?.self) { return .text }
    if isOne(of: Int.self, Int?.self) || isOne(of: Int64.self, Int64?.self) { return .integer }
    if isOne(of: Double.self, Double?.self) { return .real }
    if isOne(of: Bool.self, Bool?.self) { return .boolean }
    if isOne(of: Data.self, Data?.self) { return .data }
    return .other
  }
}

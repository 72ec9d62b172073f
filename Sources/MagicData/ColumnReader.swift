import SQLiteCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
    /// As the property's type says.
    case other
  }

  let kind: Kind
  let isOptional: Bool

  init(_ property: ObjectPlan.Property) {
    isOptional = property.role.isOptional
    kind = property.role.countsUp ? .key : property.type.columnKind
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
    case .key, .other: return nil
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

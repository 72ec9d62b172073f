import Essentials
import SQLiteCore

/// The properties of a ``DirectRecord``: where they lie in a value, and that a row may be read and bound there, as
/// proven on one connection. Tables, columns and SQL of the type are its ``TablePlan``'s.
final class DirectLayout<Root: DirectRecord> {
  let prototype: Root
  let columns: [DirectColumn<Root>]
  let strategies = Root.strategies

  /// Checks the type's declaration against values of it.
  ///
  /// - Throws: ``DirectRecordError``.
  init(_ connection: Connection) throws {
    guard let prototype = Root.prototype else { throw Self.error("it has no prototype") }
    self.prototype = prototype
    columns = Root.directColumns
    try checkPlaces()
    let base = try Shape(prototype, strategies)
    try checkNames(base)
    try checkDecoding(prototype, base, nil, connection)
    for column in columns { try check(column, base, connection) }
  }

  /// A value of the same type, as rows show it.
  private struct Shape: Equatable {
    let names: [String]
    let values: [Value]

    init(_ value: Root, _ strategies: MappingStrategies) throws {
      let shape = try RowShape(value, strategies: strategies)
      names = shape.columns.map(\.name)
      values = shape.values
    }
  }

  private func checkPlaces() throws {
    var end = 0
    for column in columns.sorted(by: { $0.offset ?? -1 < $1.offset ?? -1 }) {
      guard let offset = column.offset else {
        throw Self.error(
          "it is computed, observed, wrapped or lazy, or lies in an object", column.name)
      }
      guard offset >= end, offset + column.size <= MemoryLayout<Root>.size else {
        throw Self.error("it shares its memory with another property", column.name)
      }
      end = offset + column.size
    }
  }

  private func checkNames(_ base: Shape) throws {
    let declared = columns.map { strategies.keys.column(for: $0.name) }
    if let missing = base.names.first(where: { !declared.contains($0) }) {
      throw Self.error("it encodes a column “\(missing)” that directColumns does not list")
    }
    for (column, name) in zip(columns, declared) where !base.names.contains(name) {
      throw Self.error("nothing encodes it", column.name)
    }
    guard declared.count == base.names.count else {
      throw Self.error("directColumns lists a property twice")
    }
  }

  private func check(
    _ column: DirectColumn<Root>, _ base: Shape, _ connection: Connection
  ) throws {
    let name = strategies.keys.column(for: column.name)
    guard let place = base.names.firstIndex(of: name) else { return }
    guard try column.stored(prototype, strategies) == base.values[place] else {
      throw Self.error("encode(to:) stores something else than its value", column.name)
    }
    var hasVaried = false
    for variation in column.variations(prototype) {
      let shape = try Shape(variation, strategies)
      guard shape.names == base.names else {
        throw Self.error("which columns are encoded depends on its value", column.name)
      }
      for other in base.names.indices where other != place {
        guard shape.values[other] == base.values[other] else {
          throw Self.error("it changes what “\(base.names[other])” stores", column.name)
        }
      }
      guard try column.stored(variation, strategies) == shape.values[place] else {
        throw Self.error("encode(to:) stores something else than its value", column.name)
      }
      if shape.values[place] != base.values[place] { hasVaried = true }
      try checkDecoding(variation, shape, column.name, connection)
    }
    guard hasVaried else {
      throw Self.error(
        "its type needs an example that differs from the prototype's value", column.name)
    }
  }

  /// Checks that `init(from:)` gives back what a value stores.
  private func checkDecoding(
    _ value: Root, _ shape: Shape, _ property: String?, _ connection: Connection
  ) throws {
    let terms = zip(shape.names, shape.values).map { name, value -> SQL in
      "\(value) AS \(identifier: name)"
    }
    var statement = try connection.boundStatement("SELECT \(SQL(joining: terms, separator: ", "))")
    guard try statement.step() else { return }
    let reader = RowReader(statement, as: Root.self, strategies: strategies)
    let decoded: Root
    do {
      decoded = try reader.row(as: Root.self)
    } catch {
      throw Self.error("init(from:) refuses a value that the property can have: \(error)", property)
    }
    guard try Shape(decoded, strategies) == shape else {
      throw Self.error("init(from:) does not give back what encode(to:) stored", property)
    }
    for column in columns {
      guard try column.stored(decoded, strategies) == column.stored(value, strategies) else {
        throw Self.error("init(from:) puts something else into the property", column.name)
      }
    }
  }

  static func error(_ message: String, _ property: String? = nil) -> DirectRecordError {
    DirectRecordError(type: "\(Root.self)", property: property, message: message)
  }
}

extension Connection {
  /// Returns the proven properties of a type.
  func directLayout<Root: DirectRecord>(of type: Root.Type) throws -> DirectLayout<Root> {
    let key = ObjectIdentifier(DirectLayout<Root>.self)
    if let known = attachments[key] as? DirectLayout<Root> { return known }
    let layout = try DirectLayout<Root>(self)
    attachments[key] = layout
    return layout
  }
}

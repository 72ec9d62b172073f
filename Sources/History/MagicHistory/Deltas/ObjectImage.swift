public import SQLiteCore
import SQLiteMapping
public import SQLiteObjects
public import SQLiteRelations

/// The stored values of an object as of one commit.
///
///     case .updated(let old, let new, let properties):
///       if properties.contains("name") { print(try old[\.$name], "is", try new[\.$name]) }
///
/// It is no object: nothing that it leads to is with it, so that it is exact, and may cross threads.
public struct ObjectImage<Object: MagicObject>: Sendable {
  /// The z_index of the object.
  public let zIndex: Int
  /// The links of properties that lead to many objects, by the properties' names. With `Delta.current(_:)` these are
  /// all; with a change those that came with it, or, in the image before it, those that went.
  public internal(set) var links: [String: [StoredLink]] = [:]
  private let plan: ObjectPlan
  /// The values by the slots of their properties; nil where there is none.
  private let values: [Value?]

  /// Takes values over from a row.
  init(_ plan: ObjectPlan, _ zIndex: Int64, _ row: [Value], _ slots: [Int?]) {
    self.zIndex = Int(zIndex)
    self.plan = plan
    var values = [Value?](repeating: nil, count: plan.properties.count)
    for (value, slot) in zip(row, slots) {
      if let slot { values[slot] = value }
    }
    self.values = values
  }

  /// The value of a property.
  ///
  /// - Parameter path: A property in a column, such as `\.$name`.
  /// - Throws: `MagicError` if the path leads through a relation, or to what is no value; `SQLiteError` if the table
  ///   lacks the column; what the conversion throws.
  public subscript<Column: MagicColumn>(path: KeyPath<Object, Column>) -> Column.Value {
    get throws {
      let slot = try plan.slot(of: path)
      guard let value = values[slot] else {
        throw SQLiteError(
          .notFound, "there is no column for \(plan.typeName).\(plan.properties[slot].name)")
      }
      return try Column.value(from: value)
    }
  }

  /// The value of a property as it is stored: of a relation to one object its z_index, of an asset its id.
  ///
  /// - Parameter name: The property's name.
  /// - Returns: Nil if there is no such column.
  public func stored(_ name: String) -> Value? {
    plan.properties.firstIndex { $0.name == name }.flatMap { values[$0] }
  }
}

public import SQLiteCore
import SQLiteMapping
public import SQLiteObjects
public import SQLiteRelations

/// The stored values of an object before or after a transaction.
///
///     case .updated(let old, let new, let properties):
///       if properties.contains("name") { print(try old[\.$name], "is now", try new[\.$name]) }
///
/// An image isn't an object and doesn't load related objects. It never changes, and you can send it
/// to other threads.
public struct ObjectImage<Object: MagicObject>: Sendable {
  /// The `z_index` of the object, which identifies it in its table.
  public let zIndex: Int
  /// The links of to-many relations, by property name.
  ///
  /// In `Delta.current(_:)`, these are all links of the object. In a change, the new image contains
  /// the links that the transaction added, and the old image those that it removed.
  public internal(set) var links: [String: [StoredLink]] = [:]
  private let plan: ObjectPlan
  /// The stored values, in the order of `plan.properties`; nil for a property without a column in
  /// the table.
  private let values: [Value?]

  /// Creates an image from the values of a row. For each value, `slots` contains the index of its
  /// property in `plan.properties`, or nil to ignore the value.
  init(_ plan: ObjectPlan, _ zIndex: Int64, _ row: [Value], _ slots: [Int?]) {
    self.zIndex = Int(zIndex)
    self.plan = plan
    var values = [Value?](repeating: nil, count: plan.properties.count)
    for (value, slot) in zip(row, slots) {
      if let slot { values[slot] = value }
    }
    self.values = values
  }

  /// Accesses the value of a property.
  ///
  /// - Parameter path: A key path to a property with a column, such as `\.$name`.
  /// - Returns: The value in the image.
  /// - Throws: `MagicError` if the path accesses a related object or a property without a column;
  ///   `SQLiteError` if the table doesn't have the column; any error of the conversion to the
  ///   property's type.
  public subscript<Column: MagicColumn>(path: KeyPath<Object, Column>) -> Column.Value {
    get throws {
      let slot = try plan.slot(of: path)
      guard let value = values[slot] else {
        throw SQLiteError(
          .notFound, "the image has no column for \(plan.typeName).\(plan.properties[slot].name)")
      }
      return try Column.value(from: value)
    }
  }

  /// Returns the value of a property as it is stored in the database. For a to-one relation, this
  /// is the `z_index` of the target; for an asset, the id of the asset.
  ///
  /// - Parameter name: The name of the property.
  /// - Returns: The stored value; nil if there is no such property or the table has no column for
  ///   it.
  public func stored(_ name: String) -> Value? {
    plan.properties.firstIndex { $0.name == name }.flatMap { values[$0] }
  }
}

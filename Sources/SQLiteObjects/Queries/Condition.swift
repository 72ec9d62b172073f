import SQLiteCore
import SQLiteMapping

/// What filters of objects compare, and the conditions that they are made of.
typealias Operand = FilterOperand<ObjectTerm>
typealias Condition = FilterCondition<ObjectTerm>

/// What filters of objects have names for, beyond what filters of any row have.
indirect enum ObjectTerm: Sendable {
  /// A column, by the places of the properties that lead to it in their types' plans.
  case column([Int])
  /// How many objects the links of a property lead to.
  case count([Int])
  /// The z_index of an object, as the store knows it; nil for one that was never saved.
  case object(ObjectStorage?, type: String)
  /// Some object that the links of a property lead to is as the condition says.
  case leads(to: Condition?, through: Operand)
  /// The links of a property lead to an object.
  case leadsToObject(Operand, through: Operand)
  /// There is no such column.
  case failure(MagicError)
}

extension Operand {
  /// The column that a path leads to.
  init<Object: MagicObject>(_ path: KeyPath<Object, some MagicColumn>) {
    self.init(path) { .column(.column($0)) }
  }

  init<Object: MagicObject>(
    _ path: KeyPath<Object, some MagicColumn>, _ make: ([Int]) -> Operand
  ) {
    self =
      Prototype<Object>.slots(path).map(make)
      ?? .failure(
        .unsuitableType(type: "\(Object.self)", reason: "\(path) leads to none of its properties"))
  }

  /// The value as it is stored.
  init(_ value: some Codable) {
    do {
      self = .value(try ValueCoding.stored(value))
    } catch {
      self = .failure(
        .unstorableValue(type: "\(type(of: value))", property: "a filter", reason: "\(error)"))
    }
  }

  private static func failure(_ error: MagicError) -> Operand { .known(.failure(error)) }
}

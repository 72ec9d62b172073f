import SQLiteCore

/// What a condition compares.
indirect enum Operand: Sendable {
  /// A column, by the places of the properties that lead to it in their types' plans.
  case column([Int])
  /// How many objects the links of a property lead to.
  case count([Int])
  case value(Value)
  /// The z_index of an object, as the store knows it; nil for one that was never saved.
  case object(ObjectStorage?, type: String)
  case arithmetic(Operand, Arithmetic, Operand)
  /// There is no such column.
  case failure(MagicError)

  /// What two numbers are made into one by.
  enum Arithmetic: String, Sendable {
    case sum = "+"
    case difference = "-"
    case product = "*"
    case quotient = "/"
    case remainder = "%"
  }

  /// The column that a path leads to.
  init<Object: MagicObject>(_ path: KeyPath<Object, some MagicColumn>) {
    self.init(path) { .column($0) }
  }

  init<Object: MagicObject>(
    _ path: KeyPath<Object, some MagicColumn>, _ make: ([Int]) -> Operand
  ) {
    self =
      Prototype<Object>().slots(path).map(make)
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
}

/// A condition on an object, as a tree that becomes SQL with bound values.
///
/// Conditions mean what they mean in Swift: nil is a value like others to `==` and `!=`, and what is
/// not true is false, so that its negation is true.
indirect enum Condition: Sendable {
  /// How two values are compared.
  enum Comparison: String, Sendable {
    case equal = "="
    case notEqual = "IS NOT"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  case comparison(Operand, Comparison, Operand)
  case isIn(Operand, [Operand])
  /// Text that begins with another, by bytes.
  case hasPrefix(Operand, String)
  /// Text that contains another, by bytes.
  case contains(Operand, String)
  /// SQLite's LIKE, with its wildcards and its rule for the case of letters.
  case like(Operand, String)
  /// Some object that the links of a property lead to is as the condition says.
  case leads(to: Condition?, through: Operand)
  /// The links of a property lead to an object.
  case leadsToObject(Operand, through: Operand)
  case sql(SQL)
  case not(Condition)
  case and(Condition, Condition)
  case or(Condition, Condition)
}

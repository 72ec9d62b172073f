public import Essentials
import SQLiteCore
import SQLiteMapping

/// A value that the database calculates for each object, such as `\.$width * \.$height`.
///
/// Use it like a property in filters, sort keys, values and aggregates. Arithmetic with nil is nil.
///
/// - Integers are calculated in 64 bits, and a result that doesn't fit becomes a real number.
///   Integer division truncates, as in Swift. Division by zero is nil.
/// - A result that isn't a number, such as a difference of infinities, is nil. -0.0 becomes 0.0.
/// - `Float` and `Decimal` are calculated as in Swift. Fetching throws `SQLiteError` if a result
///   doesn't fit in a `Decimal`.
public struct MagicExpression<Object: MagicObject, Element: Codable>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// Creates an expression for the value of a property, to combine it with other expressions:
  /// `MagicExpression(\.$name)`.
  ///
  /// - Parameter path: The property.
  public init<Column: MagicColumn<Element>>(_ path: KeyPath<Object, Column>) {
    node = QueryNode(path)
  }

  /// Creates an expression from SQL, for values that the functions of expressions can't calculate.
  ///
  ///     try magic.objects(of: Track.self, orderedBy: [.ascending(MagicExpression<Track, Int>(sql: "random()"))], limit: 5)
  ///
  /// An interpolated key path becomes its column, even if it accesses a related object. An
  /// interpolated value is bound and never inserted into the text. Fetching throws `SQLiteError` if
  /// the text isn't a complete expression. It throws `SQLiteError` or a decoding error if a result
  /// doesn't have the form in which values of type `Element` are stored.
  ///
  /// - Parameter sql: The expression.
  public init(sql: FilterText<Object>) {
    node = .sql(sql.pieces, sql.operands)
  }

  /// The node of the expression, with the collation that orders values of type `Element`.
  var orderedNode: QueryNode { node.ordered(as: Element.self) }

  /// Creates an expression from fixed pieces of SQL with operands between them.
  init(_ pieces: [String], _ operands: QueryNode..., mayBeNull: Bool = true) {
    node = .form(pieces, operands, mayBeNull: mayBeNull)
  }
}

/// A property or an expression, that is, anything that the database can calculate for each object.
///
/// Key paths such as `\Track.$name` conform, and so does ``MagicExpression``. Don't add
/// conformances. Functions are declared on this protocol, so they are available for both:
///
///     let initials = (\Track.$name).prefix(1).uppercased()
public protocol MagicCalculation<Object, Element> {
  /// The type of the objects.
  associatedtype Object: MagicObject
  /// The type of the value. For an optional value, it is the wrapped type.
  associatedtype Element: Codable
  /// The value as an expression.
  var expression: MagicExpression<Object, Element> { get }
}

extension MagicCalculation {
  var node: QueryNode { expression.node }
}

extension MagicExpression: MagicCalculation {
  /// The expression itself.
  public var expression: MagicExpression { self }
}

extension KeyPath: MagicCalculation where Root: MagicObject, Value: MagicColumn {
  /// The property as an expression.
  public var expression: MagicExpression<Root, Value.Element> { MagicExpression(QueryNode(self)) }
}

/// A type whose values `+` adds or concatenates in queries: numbers and strings.
public protocol MagicAddable: MagicComparable {}

extension String: MagicAddable {}

/// A numeric type that queries can calculate with.
public protocol MagicNumber: MagicAddable, Codable {
  /// The type of an average: `Decimal`, with full precision, for decimals, and `Double` for all
  /// other numbers.
  associatedtype Average: Codable & MagicComparable & SendableMetatype = Double
}

extension Int: MagicNumber {}
extension Int8: MagicNumber {}
extension Int16: MagicNumber {}
extension Int32: MagicNumber {}
extension Int64: MagicNumber {}
extension UInt: MagicNumber {}
extension UInt8: MagicNumber {}
extension UInt16: MagicNumber {}
extension UInt32: MagicNumber {}
extension UInt64: MagicNumber {}

/// A numeric type with fractions. In queries, you can combine it with integers of any type.
public protocol MagicFractional: MagicNumber, SignedNumeric {}

extension Double: MagicFractional {}
extension Float: MagicFractional {}
extension Decimal: MagicFractional {
  /// The type of an average of decimals.
  public typealias Average = Decimal
}

extension QueryNode {
  /// Returns the value with the collation of its type, if stored values don't sort correctly by
  /// themselves. Decimals, for example, are stored as text.
  func ordered(as type: Any.Type) -> QueryNode {
    guard QueryNode.needsOrder(type) else { return self }
    return .form(QueryNode.orderPieces, [self])
  }

  /// The SQL before and after a value that applies the collation of decimals.
  static let orderPieces = ["", " COLLATE \(DecimalOrder.collation)"]

  /// Returns whether values of a type need a collation, because their stored forms don't sort like
  /// the values.
  static func needsOrder(_ type: Any.Type) -> Bool {
    // Most queries use only these types, for which the casts of the lookup are unnecessary.
    if type == Int.self || type == String.self || type == Double.self || type == Date.self {
      return false
    }
    return ColumnStorage.collation(of: type) != nil
  }

  /// Returns the condition that two values are equal. For a column and a value, SQLite can use an
  /// index in byte order or an index in the order of the type.
  static func equality(_ left: QueryNode, _ right: QueryNode, as type: Any.Type) -> QueryNode {
    let equal = comparison(left, .equal, right)
    guard case .column = left, case .value(let value) = right, !value.isNull, needsOrder(type)
    else { return equal }
    return .and(comparison(left.ordered(as: type), .equal, right), equal)
  }

  /// Returns a node for an arithmetic operation on values of `type`: decimal arithmetic,
  /// concatenation for texts, and SQLite's arithmetic for all other types, rounded for `Float`.
  static func calculation(
    _ left: QueryNode, _ arithmetic: QueryArithmetic, _ right: QueryNode, as type: Any.Type
  ) -> QueryNode {
    if type == Decimal.self {
      let name =
        switch arithmetic {
        case .sum: "magicdata_decimal_add("
        case .difference: "magicdata_decimal_subtract("
        case .product: "magicdata_decimal_multiply("
        case .quotient, .remainder: "magicdata_decimal_divide("
        }
      return .form([name, ", ", ")"], [left, right])
    }
    if type == String.self { return .form(["(", " || ", ")"], [left, right]) }
    let result = QueryNode.arithmetic(left, arithmetic, right)
    return type == Float.self ? .form(["magicdata_float(", ")"], [result]) : result
  }
}

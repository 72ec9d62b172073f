public import Essentials
import SQLiteCore
import SQLiteMapping

/// A value that the database calculates of each object: `\.$width * \.$height`.
///
/// It stands in filters, orders, values and aggregates as a property does. What is calculated of nil is nil.
///
/// - Integers are calculated in 64 bits, and a result that does not fit becomes a real. Of two integers the quotient
///   has no fraction, as in Swift. A division by zero is nil.
/// - A result that is no number, such as a difference of infinities, is nil; -0.0 is 0.0.
/// - `Float` and `Decimal` are calculated as Swift calculates them. A `Decimal` that does not fit is an error.
public struct MagicExpression<Object: MagicObject, Element: Codable>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// The value of a property, among other expressions: `MagicExpression(\.$name)`.
  ///
  /// - Parameter path: The property.
  public init<Column: MagicColumn<Element>>(_ path: KeyPath<Object, Column>) {
    node = QueryNode(path)
  }

  /// A value in SQL, where the functions of expressions do not suffice.
  ///
  ///     try magic.objects(of: Track.self, orderedBy: [.ascending(MagicExpression<Track, Int>(sql: "random()"))], limit: 5)
  ///
  /// An interpolated key path is its column, also behind relations; an interpolated value is bound, never
  /// spliced into the text. A value that is not of the type `Element` as SQLite stores it is an error.
  ///
  /// - Parameter sql: An expression.
  public init(sql: FilterText<Object>) {
    node = .sql(sql.pieces, sql.operands)
  }

  /// The value in the order of its type.
  var orderedNode: QueryNode { node.ordered(as: Element.self) }

  /// Makes an expression of fixed SQL and the operands between its pieces.
  init(_ pieces: [String], _ operands: QueryNode..., mayBeNull: Bool = true) {
    node = .form(pieces, operands, mayBeNull: mayBeNull)
  }
}

/// A property or an expression: what can be calculated of each object.
///
/// Key paths such as `\Track.$name` and ``MagicExpression`` conform; there is no reason to write others. So each
/// function is there for both:
///
///     let initials = (\Track.$name).prefix(1).uppercased()
public protocol MagicCalculation<Object, Element> {
  /// The type of the objects.
  associatedtype Object: MagicObject
  /// The type of the value, without the optional.
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

/// A type of values that `+` joins in queries: numbers and texts.
public protocol MagicAddable: MagicComparable {}

extension String: MagicAddable {}

/// A type of numbers.
public protocol MagicNumber: MagicAddable, Codable {
  /// The type of an average: `Decimal` of decimals, with all digits that it has, and `Double` of all others.
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

/// A type of numbers with fractions, which queries calculate with integers of any type too.
public protocol MagicFractional: MagicNumber, SignedNumeric {}

extension Double: MagicFractional {}
extension Float: MagicFractional {}
extension Decimal: MagicFractional {
  /// The type of an average.
  public typealias Average = Decimal
}

extension QueryNode {
  /// The value in the order of its type, where the stored forms have another: decimals are texts.
  func ordered(as type: Any.Type) -> QueryNode {
    guard QueryNode.needsOrder(type) else { return self }
    return .form(QueryNode.orderPieces, [self])
  }

  /// The SQL around a value in the order of its type.
  static let orderPieces = ["", " COLLATE \(DecimalOrder.collation)"]

  /// Whether the stored forms of a type do not sort as its values do.
  static func needsOrder(_ type: Any.Type) -> Bool {
    // The lookup costs casts, of which most queries need none.
    if type == Int.self || type == String.self || type == Double.self || type == Date.self {
      return false
    }
    return Storage.collation(of: type) != nil
  }

  /// True if a column has a value, found by whatever index there is: one in the order of bytes, or one in that of
  /// the type.
  static func equality(_ left: QueryNode, _ right: QueryNode, as type: Any.Type) -> QueryNode {
    let equal = comparison(left, .equal, right)
    guard case .column = left, case .value(let value) = right, !value.isNull, needsOrder(type)
    else { return equal }
    return .and(comparison(left.ordered(as: type), .equal, right), equal)
  }

  /// Calculates as the type of the result does.
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

import Foundation
import SQLiteCore
import SQLiteMapping

extension Item {
  /// Creates an item from the current row of `statement`.
  init(_ statement: borrowing Statement) throws {
    id = statement.integer(at: 0)
    name = try statement.text(at: 1)
    quantity = statement.integer(at: 2)
    price = statement.real(at: 3)
    isActive = statement.integer(at: 4) != 0
    note = statement.isNull(at: 5) ? nil : try statement.text(at: 5)
    rating = statement.isNull(at: 6) ? nil : statement.real(at: 6)
    payload = statement.withBytes(at: 7) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }
  }

  /// Binds all columns, in the order of ``Item/insert``.
  func bind(to statement: inout Statement) throws {
    try statement.bind(id, at: 1)
    try statement.bind(name, at: 2)
    try statement.bind(quantity, at: 3)
    try statement.bind(price, at: 4)
    try statement.bind(isActive, at: 5)
    try statement.bind(note, at: 6)
    try statement.bind(rating, at: 7)
    try statement.bind(payload, at: 8)
  }

  /// The types of the columns.
  typealias Columns = (Int64, String, Int64, Double, Bool, String?, Double?, Data)

  /// Creates an item from the columns of a row.
  init(_ columns: Columns) {
    (id, name, quantity, price, isActive, note, rating, payload) = columns
  }
}

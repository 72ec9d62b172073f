package import SQLiteCore

extension TableDefinition {
  /// The statement that makes the table.
  package var createSQL: SQL {
    var parts: [SQL] = []
    switch key {
    case .autoIncrement(let name):
      parts.append("\(identifier: name) INTEGER PRIMARY KEY AUTOINCREMENT")
    case .rowID(let name): parts.append("\(identifier: name) INTEGER PRIMARY KEY")
    case .columns, .withoutRowID: break
    }
    parts += columns.map(\.sql)
    switch key {
    case .columns(let names), .withoutRowID(let names):
      parts.append("PRIMARY KEY (\(SQL(identifiers: names)))")
    case .autoIncrement, .rowID: break
    }
    let body = SQL(joining: parts, separator: ", ")
    if case .withoutRowID = key {
      return "CREATE TABLE IF NOT EXISTS \(identifier: name) (\(body)) WITHOUT ROWID"
    }
    return "CREATE TABLE IF NOT EXISTS \(identifier: name) (\(body))"
  }

  /// The statements that make the indexes.
  package var createIndexSQL: [SQL] {
    indexes.map { index in
      let unique: SQL = index.isUnique ? "UNIQUE " : ""
      let indexName = "\(name)_\(index.columns.joined(separator: "_"))"
      return
        "CREATE \(unique)INDEX IF NOT EXISTS \(identifier: indexName) ON \(identifier: name) (\(SQL(identifiers: index.columns)))"
    }
  }
}

extension ColumnDefinition {
  /// The column as CREATE TABLE and ALTER TABLE spell it.
  package var sql: SQL {
    var sql: SQL = "\(identifier: name) \(SQL(unchecked: type.rawValue))"
    if !isOptional { sql.append(" NOT NULL") }
    if let defaultValue { sql.append(" DEFAULT \(SQL(unchecked: defaultValue.literal))") }
    if isUnique { sql.append(" UNIQUE") }
    if let reference {
      sql.append(
        " REFERENCES \(identifier: reference.table) (\(identifier: reference.column)) ON DELETE \(SQL(unchecked: reference.onDelete.rawValue)) DEFERRABLE INITIALLY DEFERRED"
      )
    }
    return sql
  }
}

extension SQL {
  /// Quoted names with commas between.
  package init(identifiers names: some Sequence<String>) {
    self.init(joining: names.map { "\(identifier: $0)" }, separator: ", ")
  }
}

extension Value {
  /// The value as a literal of SQL, for the places where SQLite takes no parameter.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): integer == .min ? "(-9223372036854775807 - 1)" : "\(integer)"
    case .real(let real):
      real.isInfinite ? (real < 0 ? "-9e999" : "9e999") : (real.isNaN ? "NULL" : "\(real)")
    case .text(let text): Value.literal(text)
    case .blob(let bytes): "X'\(Value.hexadecimal(bytes))'"
    }
  }

  /// By bytes, since a quote followed by a combining mark is one Character; a NUL would end the SQL,
  /// so that text with one is written as a cast blob.
  private static func literal(_ text: String) -> String {
    if text.utf8.contains(0) { return "CAST(X'\(hexadecimal(Array(text.utf8)))' AS TEXT)" }
    var quoted: [UInt8] = [UInt8(ascii: "'")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "'") { quoted.append(byte) }
      quoted.append(byte)
    }
    quoted.append(UInt8(ascii: "'"))
    return String(decoding: quoted, as: UTF8.self)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

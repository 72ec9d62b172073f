public import SQLiteCore
public import SQLiteMapping

extension Connection {
  /// Reads the records that one on the left is linked to, in the order of their keys.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> [Right] {
    guard try hasLinks(reference) else { return [] }
    let key = try keyColumn(of: Right.self)
    return try objects(
      of: Right.self,
      where:
        "\(identifier: key) IN (SELECT \(identifier: reference.rightKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left)))",
      orderedBy: .column(key))
  }

  /// Reads the records that are linked to one on the right, in the order of their keys.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>
  ) throws -> [Left] {
    guard try hasLinks(reference) else { return [] }
    let key = try keyColumn(of: Left.self)
    return try objects(
      of: Left.self,
      where:
        "\(identifier: key) IN (SELECT \(identifier: reference.leftKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.rightKeyName) = \(keyValue(of: right)))",
      orderedBy: .column(key))
  }

  /// Reads the records that many on the left are linked to: two statements, however many there are.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  /// - Returns: For each of `lefts` what it is linked to.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>
  ) throws -> [[Right]] {
    let keys = try lefts.map { try keyValue(of: $0) }
    guard !lefts.isEmpty, try hasLinks(reference) else { return lefts.map { _ in [] } }
    let links = try rows(
      "SELECT \(identifier: reference.leftKeyName), \(identifier: reference.rightKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) IN \(keys) ORDER BY 1, 2",
      as: Value.self, Value.self)
    var objects: [Value: Right] = [:]
    try forEachObject(of: Right.self, withKeys: Array(Set(links.map { $0.1 }))) {
      objects[$0] = $1
    }
    var found: [Value: [Right]] = [:]
    for (left, right) in links {
      if let object = objects[right] { found[left, default: []].append(object) }
    }
    return keys.map { found[$0] ?? [] }
  }

  /// The number of records that one on the left is linked to, counted by the database.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``.
  public func linkCount<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> Int {
    guard try hasLinks(reference) else { return 0 }
    return try firstRow(
      "SELECT count(*) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left))",
      as: Int.self) ?? 0
  }
}

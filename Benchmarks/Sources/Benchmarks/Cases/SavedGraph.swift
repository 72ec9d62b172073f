import CSQLite
import MagicData

/// A case that saves objects with relations: purchases with a customer and a list of lines each.
struct SavedGraph: Case {
  let name = "save-graph"
  let summary = "insert purchases with a customer and four lines each, in one transaction"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  /// Counts all saved objects. Each item becomes a line.
  func operations(on fixture: Fixture) -> Int { Self.objects(of: fixture.items.count) }

  /// Returns the number of objects for a number of lines: lines, purchases and customers.
  static func objects(of lines: Int) -> Int {
    lines + groups(of: lines, linesOfPurchase) + groups(of: lines, linesOfCustomer)
  }

  private static let linesOfPurchase = 4
  private static let linesOfCustomer = 20

  private static func groups(of lines: Int, _ size: Int) -> Int { (lines + size - 1) / size }

  private func c(_ trial: inout Trial) throws -> Checksum {
    try makeTables(trial.fixture)
    let connection = try CConnection(path: trial.fixture.freshPath)
    let items = trial.fixture.items
    try trial.measure { try insert(items, connection) }
    return try stored(by: trial)
  }

  private func insert(_ items: [Item], _ connection: CConnection) throws {
    try connection.execute("BEGIN IMMEDIATE")
    let customer = try CStatement("INSERT INTO Customer (id, name) VALUES (?, ?)", connection)
    let purchase = try CStatement(
      "INSERT INTO Purchase (id, number, customer) VALUES (?, ?, ?)", connection)
    let line = try CStatement(
      "INSERT INTO Line (id, product, quantity, price) VALUES (?, ?, ?, ?)", connection)
    let link = try CStatement(
      "INSERT INTO Purchase_lines (owner, position, target) VALUES (?, ?, ?)", connection)
    for (index, item) in items.enumerated() {
      let owner = Int64(index / Self.linesOfPurchase + 1)
      let payer = Int64(index / Self.linesOfCustomer + 1)
      let place = index % Self.linesOfPurchase
      if index % Self.linesOfCustomer == 0 {
        try customer.bind(payer, at: 1)
        try customer.bind(item.name, at: 2)
        try customer.run()
      }
      if place == 0 {
        try purchase.bind(owner, at: 1)
        try purchase.bind(owner, at: 2)
        try purchase.bind(payer, at: 3)
        try purchase.run()
      }
      try line.bind(Int64(index + 1), at: 1)
      try line.bind(item.name, at: 2)
      try line.bind(item.quantity, at: 3)
      try line.bind(item.price, at: 4)
      try line.run()
      try link.bind(owner, at: 1)
      try link.bind(Int64(place << 20), at: 2)
      try link.bind(Int64(index + 1), at: 3)
      try link.run()
    }
    try connection.execute("COMMIT")
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    try makeTables(trial.fixture)
    let magic = try MagicData(settingsAt: trial.fixture.freshPath)
    let purchases = Self.purchases(of: trial.fixture.items)
    try trial.measure { _ = try magic.update(purchases) }
    return try stored(by: trial)
  }

  static func purchases(of items: [Item]) -> [PurchaseObject] {
    var customer = CustomerObject("")
    return stride(from: 0, to: items.count, by: linesOfPurchase).map { start in
      let items = items[start..<min(start + linesOfPurchase, items.count)]
      if start % linesOfCustomer == 0 { customer = CustomerObject(items[start].name) }
      return PurchaseObject(
        Int64(start / linesOfPurchase + 1), customer, items.map { LineObject($0) })
    }
  }

  /// Creates the empty tables of all types.
  private func makeTables(_ fixture: Fixture) throws {
    let magic = try MagicData(settingsAt: fixture.freshPath)
    try magic.update(Self.purchases(of: [fixture.items[0]]))
    try magic.database.write { connection in
      for table in ["Purchase_lines", "Purchase", "Customer", "Line", "sqlite_sequence"] {
        try connection.executeChange("DELETE FROM \(identifier: table)")
      }
    }
    try magic.database.close()
  }

  private func stored(by trial: Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.freshPath)
    let statement = try CStatement(
      """
      SELECT p.number, c.name, l.product, l.quantity, l.price
      FROM Purchase_lines k JOIN Purchase p ON p.id = k.owner
      JOIN Customer c ON c.id = p.customer JOIN Line l ON l.id = k.target
      ORDER BY p.number, k.position
      """, connection)
    var checksum = Checksum()
    while try statement.step() {
      checksum.add(unsafe sqlite3_column_int64(statement.pointer, 0))
      checksum.add(try unsafe connection.text(statement.pointer, 1))
      checksum.add(try unsafe connection.text(statement.pointer, 2))
      checksum.add(unsafe sqlite3_column_int64(statement.pointer, 3))
      checksum.add(unsafe sqlite3_column_double(statement.pointer, 4))
    }
    return checksum
  }
}

/// A purchase that references a customer and a list of lines.
struct PurchaseObject: MagicObject {
  static let tableName = "Purchase"

  @PrimaryMagicValue var id: Int
  @MagicValue var number: Int64
  @MagicValue var customer: CustomerObject
  @MagicValue var lines: [LineObject]

  init() {}

  init(_ number: Int64, _ customer: CustomerObject, _ lines: [LineObject]) {
    self.number = number
    self.customer = customer
    self.lines = lines
  }
}

struct CustomerObject: MagicObject {
  static let tableName = "Customer"

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String

  init() {}

  init(_ name: String) { self.name = name }
}

struct LineObject: MagicObject {
  static let tableName = "Line"

  @PrimaryMagicValue var id: Int
  @MagicValue var product: String
  @MagicValue var quantity: Int64
  @MagicValue var price: Double

  init() {}

  init(_ item: Item) {
    product = item.name
    quantity = item.quantity
    price = item.price
  }
}

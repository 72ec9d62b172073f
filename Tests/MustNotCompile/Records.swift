import MagicData

struct City: Record {
  typealias PrimaryKey = Int
  var id: Int?
  var name: String
}

/// A key has the type that is declared.
func keys(_ database: Database) throws {
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'City.PrimaryKey' (aka 'Int')}}
  _ = try database.object(of: City.self, primary: "one")
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'City.PrimaryKey' (aka 'Int')}}
  _ = try database.has(of: City.self, primary: "one")
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'City.PrimaryKey' (aka 'Int')}}
  try database.remove(of: City.self, primary: "one")
  _ = try database.object(of: City.self, primary: 1)
}

/// A key is no value.
func values(_ database: Database) throws {
  // expected-error@+1 {{conform to 'Record'}}
  try database.updateExisting(7)
}

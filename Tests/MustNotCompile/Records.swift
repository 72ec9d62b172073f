import MagicData

struct City: Record {
  typealias PrimaryKey = Int
  var id: Int?
  var name: String
}

/// A primary key must have the declared type.
func keys(_ connection: Connection) throws {
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'City.PrimaryKey' (aka 'Int')}}
  _ = try connection.object(of: City.self, primary: "one")
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'City.PrimaryKey' (aka 'Int')}}
  _ = try connection.has(of: City.self, primary: "one")
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'City.PrimaryKey' (aka 'Int')}}
  try connection.remove(of: City.self, primary: "one")
  _ = try connection.object(of: City.self, primary: 1)
}

/// A primary key isn't a record.
func values(_ connection: Connection) throws {
  // expected-error@+1 {{conform to 'Record'}}
  try connection.updateExisting(7)
}

import SQLiteCore

/// A `String` built at run time isn't SQL.
func text(_ connection: Connection, _ name: String) throws {
  let text = "DELETE FROM city WHERE name = '\(name)'"
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'SQL'}}
  try connection.executeChange(text)
}

func send(_ value: some Sendable) {}

/// A connection can't leave the access that it belongs to.
func sending(_ connection: Connection) {
  // expected-error@+1 {{conformance of 'Connection' to 'Sendable' is unavailable}}
  send(connection)
}

struct Point { var x = 0 }

/// Only values that SQLite can store can be bound.
func binding(_ connection: Connection) throws {
  // expected-error@+1 {{conform to 'Bindable'}}
  try connection.executeChange("INSERT INTO point VALUES (\(Point()))")
}

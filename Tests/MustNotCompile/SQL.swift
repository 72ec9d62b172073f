import SQLiteCore

/// Text made at run time is no SQL, unless it says so.
func text(_ connection: Connection, _ name: String) throws {
  let text = "DELETE FROM city WHERE name = '\(name)'"
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'SQL'}}
  try connection.executeChange(text)
}

func send(_ value: some Sendable) {}

/// A connection stays in its access.
func sending(_ connection: Connection) {
  // expected-error@+1 {{conformance of 'Connection' to 'Sendable' is unavailable}}
  send(connection)
}

struct Point { var x = 0 }

/// Only what SQLite can store is bound.
func binding(_ connection: Connection) throws {
  // expected-error@+1 {{conform to 'Bindable'}}
  try connection.executeChange("INSERT INTO point VALUES (\(Point()))")
}

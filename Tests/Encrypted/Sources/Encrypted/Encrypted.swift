import SQLiteCore

/// Writes an encrypted file, and reads it again with the key and with a wrong one.
@main struct Encrypted {
  static func main() throws {
    let path = CommandLine.arguments[1]
    var options = Database.Options()
    options.key = Database.Key(passphrase: "correct horse battery staple")
    let database = try Database(path: path, options: options)
    try database.executeMultipleChanges(
      "CREATE TABLE note (text); INSERT INTO note VALUES ('encrypted')")
    try database.close()
    let notes = try Database(path: path, options: options).rows(
      "SELECT text FROM note", as: String.self)
    precondition(notes == ["encrypted"])
    options.key = Database.Key(passphrase: "wrong")
    do {
      _ = try Database(path: path, options: options)
      preconditionFailure("a wrong key was accepted")
    } catch {
      precondition(error.code == .notADatabase)
    }
    print("SQLite \(Capabilities.version) wrote and read an encrypted file.")
  }
}

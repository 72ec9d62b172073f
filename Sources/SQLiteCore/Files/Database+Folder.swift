import Platform

extension Database {
  /// Opens a database in the user's data folder, which is made if need be.
  ///
  ///     let database = try Database.inUserDataFolder(named: "notes.sqlite3", of: "org.example.Notes")
  ///
  /// The folder is `$XDG_DATA_HOME`, else `~/.local/share`, on Linux, and
  /// `~/Library/Application Support` on Apple's systems; in it one folder belongs to the program.
  ///
  /// - Parameters:
  ///   - name: The file's name.
  ///   - program: The name of the program's folder.
  ///   - options: How to open it.
  /// - Throws: ``SQLiteError`` if a name is not one of a file, if the user has no home, or as
  ///   ``init(path:options:)``.
  public static func inUserDataFolder(
    named name: String, of program: String, options: Options = Options()
  ) throws(SQLiteError) -> Database {
    for part in [name, program] {
      guard !part.isEmpty, part != ".", part != "..", !containsNUL(part),
        !containsBytes(part, "/")
      else { throw SQLiteError(.cannotOpen, "“\(part)” is not the name of a file") }
    }
    let folder = try userDataFolder() + "/" + program
    try makeFolders(folder)
    return try Database(path: "\(folder)/\(name)", options: options)
  }

  /// The folder for the data of all programs of the user.
  package static func userDataFolder() throws(SQLiteError) -> String {
    // Relative paths are to be ignored, says the specification of these variables.
    func folder(_ variable: String) throws(SQLiteError) -> String? {
      let path = try environmentPath(variable)
      return path?.utf8.first == UInt8(ascii: "/") ? path : nil
    }
    #if !canImport(Darwin)
      if let data = try folder("XDG_DATA_HOME") { return data }
    #endif
    guard let home = try folder("HOME") else {
      throw SQLiteError(.cannotOpen, "the environment does not name the user's home (HOME)")
    }
    #if canImport(Darwin)
      return home + "/Library/Application Support"
    #else
      return home + "/.local/share"
    #endif
  }

  /// Makes a folder and those that it is in, for the user alone.
  private static func makeFolders(_ path: String) throws(SQLiteError) {
    var made = ""
    for part in path.utf8.split(separator: UInt8(ascii: "/")) {
      made += "/\(Substring(part))"
      if unsafe mkdir(made, 0o700) != 0, errno != EEXIST {
        let reason = systemMessage(errno)
        var status = stat()
        // A folder that is there may be in one that cannot be written.
        guard unsafe stat(made, &status) == 0 else {
          throw SQLiteError(.cannotOpen, "\(made): the folder cannot be made: \(reason)")
        }
      }
    }
  }
}

/// The path in a variable of the environment, or nil if it is not set.
package func environmentPath(_ variable: String) throws(SQLiteError) -> String? {
  guard let value = unsafe getenv(variable) else { return nil }
  return try unsafe exactPath(value)
}

/// A path that the system gave, byte for byte. Bytes that are not UTF-8 would be repaired, and so name
/// another file.
@unsafe package func exactPath(_ path: UnsafePointer<CChar>) throws(SQLiteError) -> String {
  guard let text = unsafe String(validatingCString: path) else {
    throw SQLiteError(
      .cannotOpen,
      "\(unsafe String(cString: path)): this path is not valid UTF-8, so it cannot be used")
  }
  return text
}

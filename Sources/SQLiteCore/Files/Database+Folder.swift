import Platform

extension Database {
  /// Opens a database in the user's data folder. Creates the folder if necessary.
  ///
  ///     let database = try Database.inUserDataFolder(named: "notes.sqlite3", of: "org.example.Notes")
  ///
  /// The data folder is `~/Library/Application Support` on Apple platforms. On Linux, it is
  /// `$XDG_DATA_HOME` if that variable is set, or else `~/.local/share`. The database is in a
  /// subfolder for the program.
  ///
  /// - Parameters:
  ///   - name: The name of the database file.
  ///   - program: The name of the program's subfolder.
  ///   - options: The options for opening the database.
  /// - Throws: ``SQLiteError`` if a name is not a valid file name, if the user has no home folder,
  ///   if a folder can't be created, or for any reason for which ``init(path:options:)`` throws.
  public static func inUserDataFolder(
    named name: String, of program: String, options: Options = Options()
  ) throws(SQLiteError) -> Database {
    for part in [name, program] {
      guard !part.isEmpty, part != ".", part != "..", !containsNUL(part),
        !containsBytes(part, "/")
      else { throw SQLiteError(.cannotOpen, "“\(part)” is not a valid file name") }
    }
    let folder = try userDataFolder() + "/" + program
    try makeFolders(folder)
    return try Database(path: "\(folder)/\(name)", options: options)
  }

  /// Returns the folder that contains the data of all programs of the user.
  package static func userDataFolder() throws(SQLiteError) -> String {
    // The specification of these variables says to ignore relative paths.
    func folder(_ variable: String) throws(SQLiteError) -> String? {
      let path = try environmentPath(variable)
      return path?.utf8.first == UInt8(ascii: "/") ? path : nil
    }
    #if !canImport(Darwin)
      if let data = try folder("XDG_DATA_HOME") { return data }
    #endif
    guard let home = try folder("HOME") else {
      throw SQLiteError(.cannotOpen, "the environment variable HOME is not set")
    }
    #if canImport(Darwin)
      return home + "/Library/Application Support"
    #else
      return home + "/.local/share"
    #endif
  }

  /// Creates a folder and its missing parent folders. The new folders are accessible only to the
  /// user.
  private static func makeFolders(_ path: String) throws(SQLiteError) {
    var made = ""
    for part in path.utf8.split(separator: UInt8(ascii: "/")) {
      made += "/\(Substring(part))"
      if unsafe mkdir(made, 0o700) != 0, errno != EEXIST {
        let reason = systemMessage(errno)
        var status = stat()
        // For an existing folder, mkdir may also fail because its parent can't be written.
        guard unsafe stat(made, &status) == 0 else {
          throw SQLiteError(.cannotOpen, "\(made): the folder cannot be created: \(reason)")
        }
      }
    }
  }
}

/// Returns the path in an environment variable; nil if the variable is not set. Throws if the path
/// isn't valid UTF-8.
package func environmentPath(_ variable: String) throws(SQLiteError) -> String? {
  guard let value = unsafe getenv(variable) else { return nil }
  return try unsafe exactPath(value)
}

/// Returns a path from the system as a string. Throws if it isn't valid UTF-8, because the repaired
/// string would be the path of another file.
@unsafe package func exactPath(_ path: UnsafePointer<CChar>) throws(SQLiteError) -> String {
  guard let text = unsafe String(validatingCString: path) else {
    throw SQLiteError(
      .cannotOpen,
      "\(unsafe String(cString: path)): the path is not valid UTF-8")
  }
  return text
}

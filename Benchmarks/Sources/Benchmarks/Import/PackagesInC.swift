import CSQLite

/// The SQL that the engines without objects share.
enum ArchiveSQL {
  static let insertTag = "INSERT INTO Package_tags (owner, target) VALUES (?, ?)"
  static let insertSuggestion =
    "INSERT INTO Package_suggestions (owner, position, target) VALUES (?, ?, ?)"

  /// Returns the position that a store assigns to the link of a list element.
  static func position(_ index: Int) -> Int { index << 20 }
}

extension CConnection {
  /// Saves an archive in one transaction. The keys are the indexes of the archive plus one.
  func save(_ archive: PackageArchive, _ progress: (String) -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    for (table, names) in [
      ("Maintainer", archive.maintainers), ("Section", archive.sections), ("Tag", archive.tags),
    ] {
      let insert = try CStatement("INSERT INTO \(table) (z_index, name) VALUES (?, ?)", self)
      for (index, name) in names.all.enumerated() {
        try insert.bind(Int64(index + 1), at: 1)
        try insert.bind(name, at: 2)
        try insert.run()
      }
    }
    progress("packages")
    try savePackages(archive)
    progress("dependencies")
    let insert = try CStatement(
      "INSERT INTO Dependency (id, owner, target, kind, condition) VALUES (?, ?, ?, ?, ?)", self)
    for (index, dependency) in archive.dependencies.enumerated() {
      try insert.bind(Int64(index + 1), at: 1)
      try insert.bind(Int64(dependency.owner + 1), at: 2)
      try insert.bind(Int64(dependency.target + 1), at: 3)
      try insert.bind(dependency.kind, at: 4)
      try insert.bind(dependency.condition, at: 5)
      try insert.run()
    }
    try execute("COMMIT")
  }

  private func savePackages(_ archive: PackageArchive) throws {
    let insert = try CStatement(
      """
      INSERT INTO Package (z_index, name, version, summary, homepage, size, maintainer, section)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, self)
    for (index, package) in archive.packages.enumerated() {
      try insert.bind(Int64(index + 1), at: 1)
      try insert.bind(package.name, at: 2)
      try insert.bind(package.version, at: 3)
      try insert.bind(package.summary, at: 4)
      try insert.bind(package.homepage, at: 5)
      try insert.bind(package.size, at: 6)
      try insert.bind(Int64(package.maintainer + 1), at: 7)
      try insert.bind(Int64(package.section + 1), at: 8)
      try insert.run()
    }
    let tag = try CStatement(ArchiveSQL.insertTag, self)
    let suggestion = try CStatement(ArchiveSQL.insertSuggestion, self)
    for (owner, package) in archive.packages.enumerated() {
      for target in package.tags {
        try tag.bind(Int64(owner + 1), at: 1)
        try tag.bind(Int64(target + 1), at: 2)
        try tag.run()
      }
      for (index, target) in package.suggestions.enumerated() {
        try suggestion.bind(Int64(owner + 1), at: 1)
        try suggestion.bind(Int64(ArchiveSQL.position(index)), at: 2)
        try suggestion.bind(Int64(target + 1), at: 3)
        try suggestion.run()
      }
    }
  }
}

extension CStatement {
  fileprivate func bind(_ text: String?, at index: Int32) throws {
    if let text { try bind(text, at: index) } else { try bindNull(at: index) }
  }
}

import MagicData

struct MaintainerRecord: Record {
  static let tableName = "Maintainer"
  static let primaryKey = "z_index"

  var z_index: Int64
  var name: String
}

struct SectionRecord: Record {
  static let tableName = "Section"
  static let primaryKey = "z_index"

  var z_index: Int64
  var name: String
}

struct TagRecord: Record {
  static let tableName = "Tag"
  static let primaryKey = "z_index"

  var z_index: Int64
  var name: String
}

struct PackageRecord: Record {
  static let tableName = "Package"
  static let primaryKey = "z_index"

  var z_index: Int64
  var name: String
  var version: String
  var summary: String
  var homepage: String?
  var size: Int64
  var maintainer: Int64
  var section: Int64
}

struct DependencyRecord: Record {
  static let tableName = "Dependency"

  var id: Int64
  var owner: Int64
  var target: Int64
  var kind: String
  var condition: String?
}

extension Database {
  /// Saves an archive in one transaction. The keys are the indexes of the archive plus one.
  func save(_ archive: PackageArchive, _ progress: (String) -> Void) throws {
    try write { connection in
      try connection.insert(
        contentsOf: archive.maintainers.all.enumerated().map {
          MaintainerRecord(z_index: Int64($0 + 1), name: $1)
        })
      try connection.insert(
        contentsOf: archive.sections.all.enumerated().map {
          SectionRecord(z_index: Int64($0 + 1), name: $1)
        })
      try connection.insert(
        contentsOf: archive.tags.all.enumerated().map {
          TagRecord(z_index: Int64($0 + 1), name: $1)
        })
      progress("packages")
      try connection.insert(
        contentsOf: archive.packages.enumerated().map {
          PackageRecord(key: Int64($0 + 1), $1)
        })
      progress("links")
      var tag = try connection.statement(SQL(unchecked: ArchiveSQL.insertTag))
      var suggestion = try connection.statement(SQL(unchecked: ArchiveSQL.insertSuggestion))
      for (owner, package) in archive.packages.enumerated() {
        for target in package.tags { try tag.run(owner + 1, target + 1) }
        for (index, target) in package.suggestions.enumerated() {
          try suggestion.run(owner + 1, ArchiveSQL.position(index), target + 1)
        }
      }
      progress("dependencies")
      try connection.insert(
        contentsOf: archive.dependencies.enumerated().map {
          DependencyRecord(
            id: Int64($0 + 1), owner: Int64($1.owner + 1), target: Int64($1.target + 1),
            kind: $1.kind, condition: $1.condition)
        })
    }
  }
}

extension PackageRecord {
  fileprivate init(key: Int64, _ package: PackageArchive.Package) {
    z_index = key
    name = package.name
    version = package.version
    summary = package.summary
    homepage = package.homepage
    size = package.size
    maintainer = Int64(package.maintainer + 1)
    section = Int64(package.section + 1)
  }
}

import MagicData

struct MaintainerObject: MagicObject {
  static let tableName = "Maintainer"

  @PrimaryMagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

struct SectionObject: MagicObject {
  static let tableName = "Section"

  @PrimaryMagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

struct TagObject: MagicObject {
  static let tableName = "Tag"

  @PrimaryMagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

/// A package as an object of a store.
struct PackageObject: MagicObject {
  static let tableName = "Package"
  static var traits: [PropertyTrait] { [.searched(\Self.$name, \Self.$summary)] }

  @PrimaryMagicValue var name: String
  @MagicValue var version: String
  @MagicValue var summary: String
  @OptionMagicValue var homepage: String?
  @MagicValue var size: Int64
  @MagicValue var maintainer: MaintainerObject
  @MagicValue var section: SectionObject
  @MagicValue var tags: MagicalSet<TagObject>
  @MagicValue var suggestions: [PackageObject]

  init() {}
}

/// A dependency as an object of a store.
struct DependencyObject: MagicObject {
  static let tableName = "Dependency"

  @PrimaryMagicValue var id: Int
  @MagicValue var owner: PackageObject
  @MagicValue var target: PackageObject
  @MagicValue var kind: String
  @OptionMagicValue var condition: String?

  init() {}
}

extension MagicData {
  /// Saves an archive in one transaction: first the packages with their related objects, then the
  /// dependencies in batches.
  func save(_ archive: PackageArchive, _ progress: (String) -> Void) throws {
    try transaction {
      progress("packages")
      let packages = PackageObject.all(of: archive)
      try update(packages)
      let (count, size) = (archive.dependencies.count, 2_000)
      for start in stride(from: 0, to: count, by: size) {
        progress("dependency \(start) of \(count)")
        try update(
          archive.dependencies[start..<min(start + size, count)].map {
            DependencyObject($0, packages)
          })
      }
    }
  }
}

extension PackageObject {
  fileprivate static func all(of archive: PackageArchive) -> [PackageObject] {
    let maintainers = archive.maintainers.all.map { MaintainerObject($0) }
    let sections = archive.sections.all.map { SectionObject($0) }
    let tags = archive.tags.all.map { TagObject($0) }
    let packages = archive.packages.map { package in
      let object = PackageObject()
      object.name = package.name
      object.version = package.version
      object.summary = package.summary
      object.homepage = package.homepage
      object.size = package.size
      object.maintainer = maintainers[package.maintainer]
      object.section = sections[package.section]
      object.tags = MagicalSet(package.tags.map { tags[$0] })
      return object
    }
    for (object, package) in zip(packages, archive.packages) {
      object.suggestions = package.suggestions.map { packages[$0] }
    }
    return packages
  }
}

extension DependencyObject {
  fileprivate init(_ dependency: PackageArchive.Dependency, _ packages: [PackageObject]) {
    owner = packages[dependency.owner]
    target = packages[dependency.target]
    kind = dependency.kind
    condition = dependency.condition
  }
}

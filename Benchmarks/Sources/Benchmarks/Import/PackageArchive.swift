import Foundation

/// Debian's package lists, as `apt-get update` has stored them on this machine.
///
/// Related packages, maintainers, sections and tags are represented by array indexes, so that every
/// engine resolves them in the same way.
struct PackageArchive {
  /// A package in the lists.
  struct Package {
    let name: String
    let version: String
    let summary: String
    let homepage: String?
    let size: Int64
    let maintainer: Int
    let section: Int
    let tags: [Int]
    /// The packages in the field `Suggests`, in order. They form cycles.
    var suggestions: [Int] = []
  }

  /// A dependency or recommendation between two packages.
  struct Dependency {
    let owner: Int
    let target: Int
    let kind: String
    let condition: String?
  }

  private(set) var maintainers = Names()
  private(set) var sections = Names()
  private(set) var tags = Names()
  private(set) var packages: [Package] = []
  private(set) var dependencies: [Dependency] = []

  /// A set of texts in the order in which they were added.
  struct Names {
    private(set) var all: [String] = []
    private var indexes: [String: Int] = [:]

    /// Returns the index of a text. Adds the text if it is new.
    mutating func index(of name: String) -> Int {
      if let known = indexes[name] { return known }
      indexes[name] = all.count
      all.append(name)
      return all.count - 1
    }
  }

  private static let folder = "/var/lib/apt/lists"
  private static let helper = "/usr/lib/apt/apt-helper"

  /// Reads the package lists.
  ///
  /// - Parameter limit: The maximum number of packages to read.
  /// - Throws: ``Failure`` if this machine has no package lists or one of them can't be read.
  init(limit: Int) throws {
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: Self.folder))?.sorted() ?? []
    let lists = names.filter { $0.contains("_Packages") }
    guard !lists.isEmpty else {
      throw Failure(
        "\(Self.folder) contains no package lists; run apt-get update on a Debian machine")
    }
    var indexes: [String: Int] = [:]
    var relations: [(package: Int, fields: [Substring: Substring])] = []
    for list in lists {
      for paragraph in Self.paragraphs(of: try Self.text(of: "\(Self.folder)/\(list)"), limit) {
        guard packages.count < limit else { break }
        let fields = Self.fields(of: paragraph)
        guard let name = fields["Package"].map({ String($0) }), indexes[name] == nil else {
          continue
        }
        indexes[name] = packages.count
        relations.append((packages.count, fields))
        packages.append(package(name, fields))
      }
    }
    for (package, fields) in relations { add(package, fields, indexes) }
  }

  /// Returns the first `limit` paragraphs of a list. Each one describes a package.
  private static func paragraphs(of list: String, _ limit: Int) -> [Substring] {
    list.split(separator: "\n\n", maxSplits: limit).prefix(limit).map { $0 }
  }

  /// Returns the text of a list, decompressing it if necessary.
  private static func text(of path: String) throws -> String {
    if path.hasSuffix("_Packages") { return try String(contentsOfFile: path, encoding: .utf8) }
    guard FileManager.default.isExecutableFile(atPath: helper) else {
      throw Failure("\(path) is compressed, and \(helper) is missing")
    }
    // Not `Process`, which can't start a process under valgrind.
    guard let stream = unsafe popen("\(helper) cat-file '\(path)'", "r") else {
      throw Failure("\(helper) cannot be started")
    }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, stream)
      if count == 0 { break }
      data += buffer[..<count]
    }
    guard unsafe pclose(stream) == 0 else { throw Failure("\(helper) cannot read \(path)") }
    return String(decoding: data, as: UTF8.self)
  }

  private static let names: Set<Substring> = [
    "Package", "Version", "Description", "Homepage", "Size", "Maintainer", "Section", "Tag",
    "Suggests", "Depends", "Pre-Depends", "Recommends",
  ]

  /// Returns the fields of a paragraph by name. A line that starts with a space continues the
  /// previous field.
  private static func fields(of paragraph: Substring) -> [Substring: Substring] {
    var fields: [Substring: Substring] = [:]
    var last: Substring?
    for line in paragraph.split(separator: "\n") {
      if line.utf8.first == UInt8(ascii: " ") {
        if let last { fields[last]? += line }
        continue
      }
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = line[..<colon]
      last = names.contains(name) ? name : nil
      if last != nil { fields[name] = line[colon...].dropFirst(2) }
    }
    return fields
  }

  private mutating func package(_ name: String, _ fields: [Substring: Substring]) -> Package {
    func text(_ field: Substring) -> String { fields[field].map { String($0) } ?? "" }
    var seen: Set<Int> = []
    let tags = (fields["Tag"] ?? "").split(separator: ",")
      .map { self.tags.index(of: $0.trimmingCharacters(in: .whitespaces)) }
      .filter { seen.insert($0).inserted }
    return Package(
      name: name, version: text("Version"), summary: text("Description"),
      homepage: fields["Homepage"].map { String($0) }, size: Int64(text("Size")) ?? 0,
      maintainer: maintainers.index(of: text("Maintainer")),
      section: sections.index(of: text("Section")), tags: tags)
  }

  /// Adds the suggestions and dependencies of a package. Ignores packages that aren't in the lists.
  private mutating func add(
    _ package: Int, _ fields: [Substring: Substring], _ indexes: [String: Int]
  ) {
    func related(_ field: Substring) -> [(target: Int, condition: String?)] {
      (fields[field] ?? "").split { $0 == "," || $0 == "|" }.compactMap { item in
        let words = item.split(separator: " ", maxSplits: 1)
        guard let name = words.first?.split(separator: ":").first,
          let target = indexes[String(name)]
        else { return nil }
        return (target, words.count > 1 ? String(words[1]) : nil)
      }
    }
    packages[package].suggestions = related("Suggests").map(\.target)
    for kind in ["Pre-Depends", "Depends", "Recommends"] as [Substring] {
      for (target, condition) in related(kind) {
        dependencies.append(
          Dependency(owner: package, target: target, kind: String(kind), condition: condition))
      }
    }
  }
}

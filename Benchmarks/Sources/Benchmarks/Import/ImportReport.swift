import AllocationCount
import Foundation
import MagicData

/// A report on a realistic import: Debian's package lists, with relations, cycles, small objects
/// and a full-text index. Objects, records and C write to the same tables.
struct ImportReport {
  private let folder: URL
  private let engines: [Engine]

  /// Creates a report for the engines that the filter selects.
  ///
  /// - Throws: ``Failure`` if the filter selects a case or an engine other than these three.
  init(_ fixtures: Fixtures, _ filter: Filter) throws {
    folder = fixtures.folder
    let all: [Engine] = [.c, .record, .object]
    engines = filter.name.map { name in all.filter { $0.rawValue == name } } ?? all
    if engines.isEmpty { throw Failure.usage("--import supports the engines c, record and object") }
  }

  /// Imports up to `limit` packages with each engine and prints the best of several runs.
  ///
  /// - Throws: ``Failure`` if two engines write different rows.
  func run(packages limit: Int, runs: Int) throws {
    let progress = Progress()
    progress.show("import: reading the package lists")
    let archive = try PackageArchive(limit: limit)
    progress.clear()
    print(
      """
      \(archive.packages.count) packages, \(archive.maintainers.all.count) maintainers, \
      \(archive.sections.all.count) sections, \(archive.tags.all.count) tags, \
      \(archive.packages.reduce(0) { $0 + $1.tags.count }) links to tags, \
      \(archive.packages.reduce(0) { $0 + $1.suggestions.count }) suggestions, \
      \(archive.dependencies.count) dependencies; best of \(runs) runs
      """)
    let empty = folder.appending(path: "import-empty.sqlite").path
    try makeTables(at: empty)
    var best: [Engine: Use] = [:]
    var expected: Checksum?
    for run in 1...runs {
      for engine in engines {
        let path = folder.appending(path: "import-\(engine.rawValue)-\(run).sqlite").path
        try FileManager.default.copyItem(atPath: empty, toPath: path)
        let use = try Use(counted: "import/\(engine.rawValue)") {
          try save(archive, by: engine, at: path) {
            progress.show("import: run \(run) of \(runs), \(engine.rawValue): \($0)")
          }
        }
        progress.clear()
        let found = try checksum(path)
        guard found == expected ?? found else {
          throw Failure("import: \(engine.rawValue) wrote other rows than the previous engine")
        }
        expected = found
        best[engine] = best[engine]?.minimum(use) ?? use
      }
    }
    for engine in engines {
      guard let use = best[engine] else { continue }
      print("  \(engine.rawValue): \(use.description(comparedWith: best[.c]))")
    }
  }

  /// The time and memory that an import needs.
  private struct Use {
    private var time: Double
    /// The processor time of the process. It hardly depends on the load of the machine.
    private var processorTime: Double
    private var peak: Int?

    /// Measures `work`.
    ///
    /// - Parameters:
    ///   - name: The name under which callgrind counts the instructions of `work`.
    ///   - work: The import.
    init(counted name: String, _ work: () throws -> Void) throws {
      func processorTime() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
      }
      let (start, busy) = (ContinuousClock.now, processorTime())
      (_, peak) = try PeakMemory.rise {
        instruction_count_begin()
        defer { unsafe instruction_count_end(name) }
        try work()
      }
      self.processorTime = processorTime() - busy
      time = (ContinuousClock.now - start) / .seconds(1)
    }

    /// Returns the minimum of each quantity.
    func minimum(_ other: Use) -> Use {
      var minimum = self
      minimum.time = min(time, other.time)
      minimum.processorTime = min(processorTime, other.processorTime)
      minimum.peak = [peak, other.peak].compactMap(\.self).min()
      return minimum
    }

    func description(comparedWith c: Use?) -> String {
      func ratio(_ path: KeyPath<Use, Double>) -> String {
        guard let c else { return "" }
        return " (\(fixed(self[keyPath: path] / c[keyPath: path], digits: 2)) times C)"
      }
      let times =
        "\(fixed(time, digits: 2)) s\(ratio(\.time)), "
        + "\(fixed(processorTime, digits: 2)) s of processor time\(ratio(\.processorTime))"
      guard let peak else { return times }
      return "\(times), peak \(fixed(Double(peak) / 1_048_576, digits: 0)) MiB"
    }
  }

  private func save(
    _ archive: PackageArchive, by engine: Engine, at path: String, _ progress: (String) -> Void
  ) throws {
    switch engine {
    case .record: try Database(settingsAt: path).save(archive, progress)
    case .object: try MagicData(settingsAt: path).save(archive, progress)
    default: try CConnection(path: path).save(archive, progress)
    }
  }

  /// Creates a store with the empty tables of all types.
  private func makeTables(at path: String) throws {
    let magic = try MagicData(settingsAt: path)
    let package = PackageObject()
    package.version = ""
    package.summary = ""
    package.size = 0
    package.maintainer = MaintainerObject("")
    package.section = SectionObject("")
    package.tags = [TagObject("")]
    package.suggestions = [package]
    let dependency = DependencyObject()
    dependency.owner = package
    dependency.target = package
    dependency.kind = ""
    try magic.update(dependency)
    try magic.database.write { connection in
      for table in [
        "Dependency", "Package_tags", "Package_suggestions", "Package", "Maintainer", "Section",
        "Tag", "sqlite_sequence",
      ] {
        try connection.executeChange("DELETE FROM \(identifier: table)")
      }
    }
    try magic.database.close()
  }

  /// Returns a checksum of all rows. Uses names instead of keys, because each engine assigns keys
  /// in a different order.
  private func checksum(_ path: String) throws -> Checksum {
    let connection = try CConnection(path: path)
    var checksum = Checksum()
    for sql in [
      """
      SELECT p.name || version || summary || ifnull(homepage, '') || size || m.name || s.name
      FROM Package p JOIN Maintainer m ON m.z_index = p.maintainer
      JOIN Section s ON s.z_index = p.section ORDER BY p.name
      """,
      """
      SELECT p.name || t.name FROM Package_tags l JOIN Package p ON p.z_index = l.owner
      JOIN Tag t ON t.z_index = l.target ORDER BY p.name, t.name
      """,
      """
      SELECT p.name || l.position || t.name FROM Package_suggestions l
      JOIN Package p ON p.z_index = l.owner JOIN Package t ON t.z_index = l.target
      ORDER BY p.name, l.position
      """,
      """
      SELECT p.name || t.name || kind || ifnull(condition, '') FROM Dependency d
      JOIN Package p ON p.z_index = d.owner JOIN Package t ON t.z_index = d.target
      ORDER BY p.name, d.id
      """,
      "SELECT count(*) FROM Package_search('library OR game')",
    ] {
      let statement = try CStatement(sql, connection)
      while try statement.step() {
        checksum.add(try unsafe connection.text(statement.pointer, 0))
      }
    }
    return checksum
  }
}

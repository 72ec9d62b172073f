/// Work that several engines do to the same data, with the same result.
///
/// A case is one file: a type with one method per engine, each of which prepares, does its work
/// inside ``Trial/measure(_:)`` and returns a checksum over every value that came out.
protocol Case: Sendable {
  /// The name in the table, in the JSON and on the command line.
  var name: String { get }
  /// The work that is timed, in one line.
  var summary: String { get }
  /// The engines that take part, C first.
  var engines: KeyValuePairs<Engine, Turn> { get }
  /// Returns how many operations one run does.
  func operations(on fixture: Fixture) -> Int
  /// Returns how many rows its data has when `rows` were asked for.
  func size(for rows: Int) -> Int
  /// The most runs that count: few where one takes long.
  var mostRuns: Int { get }
  /// Returns what its measurements show, where the columns of the table do not say so plainly.
  func remark(on measurements: [Measurement]) -> String?
}

/// One engine's way through a case.
typealias Turn = (inout Trial) throws -> Checksum

extension Case {
  func operations(on fixture: Fixture) -> Int { fixture.items.count }
  func size(for rows: Int) -> Int { rows }
  var mostRuns: Int { .max }
  func remark(on measurements: [Measurement]) -> String? { nil }
}

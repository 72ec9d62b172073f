/// An operation that several engines perform on the same data, with the same result.
///
/// Each case is a type in its own file, with a method for each engine. The method prepares the
/// data, performs the operation inside ``Trial/measure(_:)`` and returns a checksum of all
/// resulting values.
protocol Case: Sendable {
  /// The name in the table, the JSON and the command line.
  var name: String { get }
  /// A one-line description of the timed operation.
  var summary: String { get }
  /// The participating engines, C first.
  var engines: KeyValuePairs<Engine, Turn> { get }
  /// Returns the number of operations in one run.
  func operations(on fixture: Fixture) -> Int
  /// Returns the number of rows of the data if the user requests `rows`.
  func size(for rows: Int) -> Int
  /// The maximum number of timed runs. Small if a run takes long.
  var maximumRuns: Int { get }
  /// Returns a sentence about the measurements, or nil if the columns of the table are sufficient.
  func remark(on measurements: [Measurement]) -> String?
}

/// The implementation of a case by one engine.
typealias Turn = (inout Trial) throws -> Checksum

extension Case {
  func operations(on fixture: Fixture) -> Int { fixture.items.count }
  func size(for rows: Int) -> Int { rows }
  var maximumRuns: Int { .max }
  func remark(on measurements: [Measurement]) -> String? { nil }
}

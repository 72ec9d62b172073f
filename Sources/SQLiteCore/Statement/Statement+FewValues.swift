// Swift 6.3.1 does not unroll packs: `run` of any number of values makes a tuple of them and calls a
// generic function for each. These forms are compiled for their types (benchmark `insert`).
extension Statement {
  /// Runs the statement to its end, with the values that are bound.
  ///
  /// - Returns: What changed.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public mutating func run() throws(SQLiteError) -> Change {
    endRun()
    return try runToEnd()
  }

  /// As ``bind(_:)`` of any number of values, for one.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<A: Bindable>(
    _ a: A
  ) throws(SQLiteError) {
    try checkCount(1)
    try a.bind(to: &self, at: 1)
  }

  /// As ``bind(_:)`` of any number of values, for two.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<A: Bindable, B: Bindable>(
    _ a: A, _ b: B
  ) throws(SQLiteError) {
    try checkCount(2)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
  }

  /// As ``bind(_:)`` of any number of values, for three.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<A: Bindable, B: Bindable, C: Bindable>(
    _ a: A, _ b: B, _ c: C
  ) throws(SQLiteError) {
    try checkCount(3)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
  }

  /// As ``bind(_:)`` of any number of values, for four.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<A: Bindable, B: Bindable, C: Bindable, D: Bindable>(
    _ a: A, _ b: B, _ c: C, _ d: D
  ) throws(SQLiteError) {
    try checkCount(4)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
    try d.bind(to: &self, at: 4)
  }

  /// As ``bind(_:)`` of any number of values, for five.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable>(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
  ) throws(SQLiteError) {
    try checkCount(5)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
    try d.bind(to: &self, at: 4)
    try e.bind(to: &self, at: 5)
  }

  /// As ``bind(_:)`` of any number of values, for six.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<
    A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable, F: Bindable
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
  ) throws(SQLiteError) {
    try checkCount(6)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
    try d.bind(to: &self, at: 4)
    try e.bind(to: &self, at: 5)
    try f.bind(to: &self, at: 6)
  }

  /// As ``bind(_:)`` of any number of values, for seven.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<
    A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable, F: Bindable, G: Bindable
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G
  ) throws(SQLiteError) {
    try checkCount(7)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
    try d.bind(to: &self, at: 4)
    try e.bind(to: &self, at: 5)
    try f.bind(to: &self, at: 6)
    try g.bind(to: &self, at: 7)
  }

  /// As ``bind(_:)`` of any number of values, for eight.
  @inline(__always) @inlinable  // Benchmark `insert`.
  public mutating func bind<
    A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable, F: Bindable, G: Bindable,
    H: Bindable
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H
  ) throws(SQLiteError) {
    try checkCount(8)
    try a.bind(to: &self, at: 1)
    try b.bind(to: &self, at: 2)
    try c.bind(to: &self, at: 3)
    try d.bind(to: &self, at: 4)
    try e.bind(to: &self, at: 5)
    try f.bind(to: &self, at: 6)
    try g.bind(to: &self, at: 7)
    try h.bind(to: &self, at: 8)
  }

  /// As ``run(_:)`` of any number of values, for one.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable>(
    _ a: A
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for two.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable, B: Bindable>(
    _ a: A, _ b: B
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for three.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable, B: Bindable, C: Bindable>(
    _ a: A, _ b: B, _ c: C
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b, c)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for four.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable, B: Bindable, C: Bindable, D: Bindable>(
    _ a: A, _ b: B, _ c: C, _ d: D
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b, c, d)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for five.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable>(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b, c, d, e)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for six.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<
    A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable, F: Bindable
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b, c, d, e, f)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for seven.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<
    A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable, F: Bindable, G: Bindable
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b, c, d, e, f, g)
    return try runToEnd()
  }

  /// As ``run(_:)`` of any number of values, for eight.
  @inline(__always) @inlinable  // Benchmark `insert`.
  @discardableResult
  public mutating func run<
    A: Bindable, B: Bindable, C: Bindable, D: Bindable, E: Bindable, F: Bindable, G: Bindable,
    H: Bindable
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H
  ) throws(SQLiteError) -> Change {
    endRun()
    try bind(a, b, c, d, e, f, g, h)
    return try runToEnd()
  }
}

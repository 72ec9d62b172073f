extension Measurement: Codable {
  private enum CodingKeys: String, CodingKey {
    case `case`, engine, rows, spread
    case nanoseconds = "ns_per_op"
    case ratioToC = "ratio_to_c"
    case peakBytes = "peak_bytes"
    case allocations = "allocs_per_op"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(`case`, forKey: .case)
    try container.encode(engine, forKey: .engine)
    try container.encode(operations, forKey: .rows)
    try container.encode(nanoseconds, forKey: .nanoseconds)
    try container.encode(ratioToC, forKey: .ratioToC)
    try container.encode(spread, forKey: .spread)
    try container.encode(peakBytes, forKey: .peakBytes)
    try container.encode(allocations, forKey: .allocations)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    `case` = try container.decode(String.self, forKey: .case)
    engine = try container.decode(Engine.self, forKey: .engine)
    operations = try container.decode(Int.self, forKey: .rows)
    nanoseconds = try container.decode(Double.self, forKey: .nanoseconds)
    ratioToC = try container.decode(Double.self, forKey: .ratioToC)
    spread = try container.decode(Double.self, forKey: .spread)
    peakBytes = try container.decodeIfPresent(Int.self, forKey: .peakBytes)
    allocations = try container.decodeIfPresent(Double.self, forKey: .allocations)
  }
}

import MagicData

/// A case that reads a property of fetched objects, or of an object that they reference.
struct RelationRead: Case {
  /// The number of relations between the fetched object and the property.
  let relations: Int

  static let all = [RelationRead(relations: 0), RelationRead(relations: 1)]

  var name: String { "relation-read-\(relations)" }
  var summary: String {
    relations == 0
      ? "read the title of a fetched track"
      : "read the title of the album of a fetched track"
  }

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Library.owners(in: fixture) * Self.passes }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let tracks = try CConnection(warm: Library(trial.fixture)).fetchTracks()
    if relations == 0 { return try measure(&trial, tracks) { $0.title } }
    return try measure(&trial, tracks) { $0.album.title }
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Library(trial.fixture))
    let tracks = try magic.object(of: TrackObject.self)
    if relations == 0 { return try measure(&trial, tracks) { $0.title } }
    return try measure(&trial, tracks) { $0.album.title }
  }

  private static let passes = 20

  /// Measures reading all titles several times.
  @inline(__always) private func measure<Track>(
    _ trial: inout Trial, _ tracks: [Track], _ title: (Track) -> String
  ) throws -> Checksum {
    let length = try trial.measure {
      var length = 0
      for _ in 0..<Self.passes {
        for track in tracks { length &+= title(track).utf8.count }
      }
      return length
    }
    var checksum = Checksum()
    for track in tracks { checksum.add(title(track)) }
    checksum.add(Int64(length))
    return checksum
  }

  /// Returns the ratio of the time of a read through a relation to the time of a plain property.
  func remark(on measurements: [Measurement]) -> String? {
    let times = Self.all.compactMap { entry in
      measurements.first { $0.case == entry.name && $0.engine == .object }?.nanoseconds
    }
    guard relations == 1, times.count == 2 else { return nil }
    return "relation-read: a property of a relation costs \(fixed(times[1] / times[0], digits: 1))"
      + " times a plain property; the limit is 10"
  }
}

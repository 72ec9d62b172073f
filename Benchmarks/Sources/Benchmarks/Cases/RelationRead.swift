import MagicData

/// Reads a property of fetched objects, which ``RelationRead`` is compared with.
struct PlainRead: Case {
  let name = "plain-read"
  let summary = "read the title of a track that was fetched"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Library.titleReads(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let tracks = try CConnection(warm: Library(trial.fixture)).fetchTracks()
    let length = try trial.measure { lengthOfTitles(of: tracks) { $0.title } }
    return Checksum(ofTitles: tracks.map(\.title), length: length)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Library(trial.fixture))
    let tracks = try magic.object(of: TrackObject.self)
    let length = try trial.measure { lengthOfTitles(of: tracks) { $0.title } }
    return Checksum(ofTitles: tracks.map(\.title), length: length)
  }
}

/// Reads a property of the objects that fetched objects lead to.
struct RelationRead: Case {
  let name = "relation-read"
  let summary = "read the title of the album of a track, both fetched"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Library.titleReads(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let tracks = try CConnection(warm: Library(trial.fixture)).fetchTracks()
    let length = try trial.measure { lengthOfTitles(of: tracks) { $0.album.title } }
    return Checksum(ofTitles: tracks.map(\.album.title), length: length)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Library(trial.fixture))
    let tracks = try magic.object(of: TrackObject.self)
    let length = try trial.measure { lengthOfTitles(of: tracks) { $0.album.title } }
    return Checksum(ofTitles: tracks.map(\.album.title), length: length)
  }

  /// The time of a read through a relation, relative to that of a plain one: the limit is 10.
  func remark(on measurements: [Measurement]) -> String? {
    func time(_ name: String) -> Double? {
      measurements.first { $0.case == name && $0.engine == .object }?.nanoseconds
    }
    guard let plain = time(PlainRead().name), let relation = time(name) else { return nil }
    return "relation-read: a property of a relation costs \(fixed(relation / plain, digits: 1))"
      + " times a plain property; the limit is 10"
  }
}

extension Library {
  fileprivate static let passes = 20

  fileprivate static func titleReads(in fixture: Fixture) -> Int { owners(in: fixture) * passes }
}

/// Reads the title of every track, as often as the cases do, and adds up their lengths.
@inline(__always) private func lengthOfTitles<Track>(
  of tracks: [Track], _ title: (Track) -> String
) -> Int {
  var length = 0
  for _ in 0..<Library.passes {
    for track in tracks { length &+= title(track).utf8.count }
  }
  return length
}

extension Checksum {
  fileprivate init(ofTitles titles: [String], length: Int) {
    for title in titles { add(title) }
    add(Int64(length))
  }
}

import Foundation
import MagicData

/// The state of a view. Everything in it is isolated to the main actor.
final class Library {
  let magic: MagicData
  private(set) var albums: [Album] = []
  private(set) var plays = 0

  init(_ magic: MagicData) { self.magic = magic }

  func load() async throws {
    albums = try await magic.objects(of: Album.self, orderedBy: [.ascending(\.$title)])
  }

  func add(_ album: Album) async throws {
    try await magic.update(album)
    try await load()
  }

  func rename(_ album: Album, to title: String) async throws {
    album.title = title
    try await magic.update(album)
  }

  /// Adds a play and returns the number of plays of a track. The closure runs on a thread of the
  /// database, so it uses copies of the model's state.
  func play(_ track: Track) async throws -> Int {
    let (database, code) = (magic.database, track.code.text)
    plays = try await magic.transaction {
      try database.write { connection in
        try connection.insert(Play(code: code, at: Date(timeIntervalSince1970: 0)))
        return try connection.count(of: Play.self, where: "code = \(code)")
      }
    }
    return plays
  }

  /// Shows the number of albums after each commit that changes them, until there are `count`.
  func follow(until count: Int) async throws -> [Int] {
    var shown: [Int] = []
    for try await albums in magic.observe(Album.all) {
      self.albums = albums
      shown.append(albums.count)
      if albums.count >= count { break }
    }
    return shown
  }

  /// Fetches on another thread. `Track` is `Sendable`, so the result can be shown here.
  @concurrent nonisolated static func longest(in magic: MagicData) async throws -> Track? {
    let tracks = try await magic.objects(
      of: Track.self, orderedBy: [.descending(\.$seconds)], limit: 1)
    return tracks.first
  }
}

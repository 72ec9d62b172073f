import Conformance
import Foundation
import MagicData
import TestSupport

extension Chinook {
  /// All objects of a shop in memory.
  final class Shop {
    var artists: [Artist] = []
    var albums: [Album] = []
    var genres: [Genre] = []
    var tracks: [Track] = []
    var playlists: [Playlist] = []
    var playlistTracks: [[Int]] = []
    var employees: [Employee] = []
    var customers: [Customer] = []
    var invoices: [Invoice] = []
    var lines: [InvoiceLine] = []

    init(seed: UInt64) {
      var random = SplitMix64(seed: seed)
      let words = [
        "Love", "rain", "Île", "night", "Straße", "fire", "Montréal", "river", "Ärger", "moon",
        "Dog", "under", "the", "Gold", "never", "日本", "blue", "O'Hara", "100%", "back_slash",
        "a\u{301}", "👩‍👩‍👧", "Zoo", "élan", "2nd",
      ]
      func one<Element>(of list: [Element]) -> Element {
        list[Int.random(in: list.indices, using: &random)]
      }
      func text(_ count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count, using: &random)).map { _ in
          one(of: words)
        }.joined(separator: " ")
      }
      func date(_ years: ClosedRange<Int>) -> Date {
        Date(
          timeIntervalSince1970: Double(
            Int.random(
              in: (years.lowerBound - 1970) * 31_557_600...(years.upperBound - 1970) * 31_557_600,
              using: &random)))
      }
      for id in 1...275 {
        let artist = Artist()
        artist.id = id
        artist.name = text(1...3) + (id % 7 == 0 ? "" : " \(id)")
        artists.append(artist)
      }
      for id in 1...700 {
        let album = Album()
        album.id = id
        album.title = text(1...4)
        album.released = Int.random(in: 0..<10, using: &random) == 0 ? nil : date(1955...2024)
        album.artist =
          Int.random(in: 0..<12, using: &random) == 0
          ? nil : artists[Int.random(in: 0..<250, using: &random)]
        albums.append(album)
      }
      for (index, name) in ["Rock", "Jazz", "Metal", "Pop", "Latin", "Blues", "Opera"].enumerated()
      {
        let genre = Genre()
        genre.id = index + 1
        genre.name = name
        genres.append(genre)
      }
      for id in 1...7000 {
        let track = Track()
        track.id = id
        track.name = text(1...5)
        track.composer = Int.random(in: 0..<3, using: &random) == 0 ? nil : text(2...2)
        track.milliseconds = Int.random(in: 60_000...900_000, using: &random)
        track.bytes = track.milliseconds * Int.random(in: 16...40, using: &random)
        track.price = one(of: [0.99, 1.29, 1.99, 0.5])
        track.stock = Int.random(in: 0...50, using: &random)
        track.format = one(of: Format.allCases)
        track.lyrics = text(3...30)
        track.rating = Bool.random(using: &random) ? nil : Int.random(in: 1...5, using: &random)
        track.album =
          Int.random(in: 0..<20, using: &random) == 0
          ? nil : albums[Int.random(in: 0..<690, using: &random)]
        track.genre =
          Int.random(in: 0..<15, using: &random) == 0
          ? nil : genres[Int.random(in: 0..<6, using: &random)]
        tracks.append(track)
      }
      for id in 1...18 {
        let playlist = Playlist()
        playlist.id = id
        playlist.name = text(1...2)
        let count = id == 18 ? 0 : Int.random(in: 1...900, using: &random)
        let picks = Set((0..<count).map { _ in Int.random(in: 0..<6500, using: &random) })
        playlistTracks.append(picks.sorted())
        var set = MagicalSet<Track>()
        for pick in picks.sorted() { set.insert(tracks[pick]) }
        playlist.tracks = AsyncMagical(value: set)
        playlists.append(playlist)
      }
      for id in 1...20 {
        let employee = Employee()
        employee.id = id
        employee.firstName = one(of: words)
        employee.lastName = text(1...2)
        employee.title = id == 1 ? "General Manager" : id < 5 ? "Sales Manager" : "Agent"
        employee.hired = date(1999...2020)
        employee.manager = id == 1 ? nil : id < 5 ? employees[0] : employees[1 + id % 3]
        employees.append(employee)
      }
      for id in 1...600 {
        let customer = Customer()
        customer.id = id
        customer.firstName = one(of: words)
        customer.lastName = text(1...2)
        customer.email = "c\(id)@example.org"
        customer.company = Int.random(in: 0..<4, using: &random) == 0 ? text(1...2) : nil
        customer.country = one(of: ["CA", "CH", "DE", "BR", "US", "JP"])
        customer.credit = Decimal(Int.random(in: -50_000...500_000, using: &random)) / 100
        customer.support =
          Int.random(in: 0..<9, using: &random) == 0
          ? nil : employees[Int.random(in: 4..<19, using: &random)]
        customers.append(customer)
      }
      for id in 1...5000 {
        let invoice = Invoice()
        invoice.id = id
        invoice.date = date(2018...2024)
        invoice.paid =
          Int.random(in: 0..<4, using: &random) == 0
          ? nil
          : invoice.date.addingTimeInterval(
            Double(Int.random(in: 0...60 * 86_400, using: &random)))
        let customer = customers[Int.random(in: 0..<560, using: &random)]
        invoice.customer = customer
        invoice.country = customer.country
        var total: Decimal = 0
        for _ in 0..<Int.random(in: 0...8, using: &random) {
          let line = InvoiceLine()
          line.id = lines.count + 1
          let track = tracks[Int.random(in: 0..<6000, using: &random)]
          line.track = Int.random(in: 0..<40, using: &random) == 0 ? nil : track
          line.price = Decimal(Int.random(in: 50...299, using: &random)) / 100
          line.quantity = Int.random(in: 1...12, using: &random)
          line.invoice = invoice
          total += line.price * Decimal(line.quantity)
          lines.append(line)
        }
        invoice.total = total
        invoices.append(invoice)
      }
    }

    /// Saves everything in a new store.
    func saved() throws -> MagicData {
      let magic = try MagicData.fresh()
      try magic.transaction {
        try magic.update(tracks)
        try magic.update(artists)
        try magic.update(genres)
        try magic.update(albums)
        try magic.update(playlists)
        try magic.update(lines)
        try magic.update(invoices)
        try magic.update(customers)
        try magic.update(employees)
      }
      return magic
    }
  }
}

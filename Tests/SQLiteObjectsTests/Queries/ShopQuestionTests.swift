import Conformance
import Foundation
import MagicData
import Testing

/// Questions of a music shop, answered by queries and by plain Swift on the objects in memory.
@Suite(.timeLimit(.minutes(40)), .everyEngine) struct ShopQuestionTests {
  private typealias Artist = Chinook.Artist
  private typealias Album = Chinook.Album
  private typealias Genre = Chinook.Genre
  private typealias Track = Chinook.Track
  private typealias Playlist = Chinook.Playlist
  private typealias Employee = Chinook.Employee
  private typealias Customer = Chinook.Customer
  private typealias Invoice = Chinook.Invoice
  private typealias InvoiceLine = Chinook.InvoiceLine
  private typealias Shop = Chinook.Shop

  @Test(.requires(.collations)) func `thirty everyday queries return the same as plain Swift`()
    throws
  {
    let shop = Shop(seed: 18)
    let magic = try shop.saved()
    // 1. How many tracks are longer than ten minutes and rated?
    check(
      "1 long rated",
      try magic.count(of: Track.self, where: \.$milliseconds > 600_000 && \.$rating != nil),
      shop.tracks.count { $0.milliseconds > 600_000 && $0.rating != nil })
    // 2. The artists without an album.
    check(
      "2 silent artists",
      try magic.objects(of: Artist.self, where: (\Artist.$albums).isEmpty).map(\.id),
      shop.artists.filter { artist in !shop.albums.contains { $0.artist?.id == artist.id } }.map(
        \.id)
    )
    // 3. The ten customers who spent the most.
    let spent = Dictionary(grouping: shop.invoices, by: \.customer.id).mapValues {
      $0.reduce(Decimal(0)) { $0 + $1.total }
    }
    check(
      "3 best customers",
      try magic.objects(
        of: Customer.self, orderedBy: [.descending((\Customer.$invoices).sum(\.$total))], limit: 10
      ).map(\.id),
      shop.customers.sorted { (spent[$0.id] ?? 0, $1.id) > (spent[$1.id] ?? 0, $0.id) }.prefix(10)
        .map(\.id))
    // 4. What did each country spend in each year?
    let rows = try magic.fetch(
      Invoice.all.aggregate(.count, .sum(\.$total), by: \.$country, and: (\Invoice.$date).year))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC")!
    var wanted: [String: (Int, Decimal)] = [:]
    for invoice in shop.invoices {
      let year = calendar.component(.year, from: invoice.date)
      wanted["\(invoice.country) \(year)", default: (0, 0)].0 += 1
      wanted["\(invoice.country) \(year)", default: (0, 0)].1 += invoice.total
    }
    var totals: [String] = []
    for ((country, year), (count, total)) in rows {
      totals.append("\(country) \(year ?? 0) \(count) \(total)")
    }
    check(
      "4 country and year",
      totals,
      wanted.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.0) \($0.value.1)" })
    // 5. Name, album and artist of the twenty cheapest tracks.
    check(
      "5 joined",
      try magic.fetch(
        Track.where(\.$price < 1).ordered(by: .ascending(\.$price), .ascending(\.$id)).limit(20)
          .values(\.$name, \.$album.$title, \.$album.$artist.$name)
      ).map { "\($0) \($1 ?? "-") \($2 ?? "-")" },
      shop.tracks.filter { $0.price < 1 }.sorted { ($0.price, $0.id) < ($1.price, $1.id) }.prefix(
        20
      )
      .map { "\($0.name) \($0.album?.title ?? "-") \($0.album?.artist?.name ?? "-")" })
    // 6. Unpaid invoices that are older than a date.
    let limit = Date(timeIntervalSince1970: 1_600_000_000)
    check(
      "6 unpaid",
      try magic.objects(of: Invoice.self, where: \.$paid == nil && \.$date < limit).map(\.id),
      shop.invoices.filter { $0.paid == nil && $0.date < limit }.map(\.id))
    // 7. Paid more than 30 days late.
    check(
      "7 late",
      try magic.count(of: Invoice.self, where: \.$paid - \.$date > 30 * 86_400),
      shop.invoices.count { ($0.paid?.timeIntervalSince($0.date) ?? 0) > 30 * 86_400 })
    // 8. Which invoices don't add up?
    check(
      "8 adds up",
      try magic.count(
        of: Invoice.self,
        where: (\Invoice.$lines).sum(\.$price * \.$quantity) != \.$total), 0)
    // 9. How many employees does each manager have?
    check(
      "9 managers",
      try magic.fetch(
        Employee.where((\Employee.$reports).count > 0).values(
          \.$lastName, and: (\Employee.$reports).count)
      ).map { "\($0) \($1 ?? -1)" },
      shop.employees.compactMap { boss in
        let count = shop.employees.count { $0.manager?.id == boss.id }
        return count == 0 ? nil : "\(boss.lastName) \(count)"
      })
    // 10. Customers whose support agent has employee 2 as manager.
    check(
      "10 grandchildren",
      try magic.count(of: Customer.self, where: \.$support.$manager.$id == 2),
      shop.customers.count { $0.support?.manager?.id == 2 })
    // 11. Tracks never sold.
    let sold = Set(shop.lines.compactMap { $0.track?.id })
    check(
      "11 never sold", try magic.count(of: Track.self, where: (\Track.$lines).isEmpty),
      shop.tracks.count { !sold.contains($0.id) })
    // 12. Playlists with more than 100 tracks of Rock.
    check(
      "12 rock lists",
      try magic.objects(
        of: Playlist.self, where: (\Playlist.$tracks).count { \.$genre.$name == "Rock" } > 100
      ).map(\.id),
      shop.playlists.enumerated().filter { index, _ in
        shop.playlistTracks[index].count { shop.tracks[$0].genre?.name == "Rock" } > 100
      }.map(\.element.id))
    // 13. Average length by genre, longest first, only genres with more than 900 tracks.
    let lengths = Dictionary(grouping: shop.tracks, by: { $0.genre?.name })
    let averages = lengths.filter { $0.value.count > 900 }.map { name, tracks in
      let total = tracks.reduce(0) { $0 + $1.milliseconds }
      return (name: name ?? "-", count: tracks.count, average: Double(total) / Double(tracks.count))
    }.sorted { $0.average > $1.average }
    let averageRows = try magic.fetch(
      Track.all.aggregate(
        .average(\.$milliseconds), .count, by: \.$genre.$name, having: .count > 900,
        orderedBy: [.descending(.average(\.$milliseconds))]))
    check(
      "13 average by genre",
      averageRows.map { "\($0 ?? "-") \($1.1)" },
      averages.map { "\($0.name) \($0.count)" })
    // 14. Median length and the 90th percentile.
    let sorted = shop.tracks.map(\.milliseconds).sorted()
    check(
      "14 median", try magic.fetch(Track.all.aggregate(.median(\.$milliseconds))),
      Double(sorted[3499] + sorted[3500]) / 2)
    // 15. Artists whose albums were all released before 1980.
    let border = Date(timeIntervalSince1970: 315_532_800)
    check(
      "15 old artists",
      try magic.objects(
        of: Artist.self,
        where: (\Artist.$albums).allSatisfy { \.$released < border } && !(\Artist.$albums).isEmpty
      ).map(\.id),
      shop.artists.filter { artist in
        let albums = shop.albums.filter { $0.artist?.id == artist.id }
        return !albums.isEmpty
          && albums.allSatisfy { album in album.released.map { $0 < border } ?? false }
      }.map(\.id))
    // 16. Customers by full name.
    check(
      "16 full name",
      try magic.count(
        of: Customer.self, where: \.$firstName + " " + \.$lastName == "Love rain"),
      shop.customers.count { $0.firstName + " " + $0.lastName == "Love rain" })
    // 17. Company or full name, in lower case, in order.
    check(
      "17 display name",
      try magic.fetch(
        Customer.ordered(by: .ascending((\Customer.$company).or(\.$lastName)), .ascending(\.$id))
          .limit(30).values((\Customer.$company).or(\.$firstName + " " + \.$lastName).lowercased())
      ).map { $0 ?? "-" },
      shop.customers.sorted {
        let (a, b) = (
          Array(($0.company ?? $0.lastName).utf8), Array(($1.company ?? $1.lastName).utf8)
        )
        return a == b ? $0.id < $1.id : a.lexicographicallyPrecedes(b)
      }.prefix(30).map {
        ($0.company ?? $0.firstName + " " + $0.lastName).lowercased()
      })
    // 18. The number of short, medium and long tracks.
    let length: MagicExpression<Track, String> = .when(
      \.$milliseconds < 180_000, then: "short",
      else: .when(\.$milliseconds < 420_000, then: "medium", else: "long"))
    let sizeRows = try magic.fetch(Track.all.aggregate(.count, by: length))
    check(
      "18 sizes",
      sizeRows.map { "\($0 ?? "-") \($1)" },
      Dictionary(
        grouping: shop.tracks,
        by: {
          $0.milliseconds < 180_000 ? "short" : $0.milliseconds < 420_000 ? "medium" : "long"
        }
      ).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.count)" })
    // 19. The value of the stock.
    let value = try magic.fetch(Track.all.aggregate(.sum(\Track.$price * \Track.$stock)))
    check(
      "19 stock", abs(value - shop.tracks.reduce(0) { $0 + $1.price * Double($1.stock) }) < 0.001,
      true)
    // 20. The newest invoice of each customer.
    let newest = Dictionary(grouping: shop.invoices, by: \.customer.id)
      .mapValues { invoices in invoices.map(\.date).max()! }.sorted { $0.key < $1.key }
    let newestRows = try magic.fetch(Invoice.all.aggregate(.max(\.$date), by: \.$customer.$id))
    check(
      "20 newest invoice",
      newestRows.map { "\($0!) \($1!)" },
      newest.map { "\($0.key) \($0.value)" })
    // 21. Distinct countries in order.
    check(
      "21 countries",
      try magic.fetch(Customer.ordered(by: .ascending(\.$country)).distinct().values(\.$country)),
      Set(shop.customers.map(\.country)).sorted())
    // 22. Different artists per genre.
    var artistCounts: [String] = []
    for (name, tracks) in lengths.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
      let artists = Set(tracks.compactMap { $0.album?.artist?.id })
      artistCounts.append("\(name ?? "-") \(artists.count)")
    }
    let artistRows = try magic.fetch(
      Track.all.aggregate(.distinctCount(\.$album.$artist.$id), by: \.$genre.$name))
    check(
      "22 artists per genre",
      artistRows.map {
        "\($0 ?? "-") \($1)"
      },
      artistCounts)
    // 23. Sales by weekday.
    let weekdayRows = try magic.fetch(Invoice.all.aggregate(.count, by: (\Invoice.$date).weekday))
    check(
      "23 weekdays",
      weekdayRows.map { "\($0 ?? 0) \($1)" },
      Dictionary(grouping: shop.invoices, by: { calendar.component(.weekday, from: $0.date) })
        .sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.count)" })
    // 24. Customers with a credit over 4,900, richest first.
    check(
      "24 credit",
      try magic.objects(
        of: Customer.self, where: \.$credit > 4_900, orderedBy: [.descending(\.$credit)]
      ).map(\.credit),
      shop.customers.map(\.credit).filter { $0 > 4_900 }.sorted(by: >))
    // 25. Tracks of one album, in the order of their names.
    let album = shop.albums[3]
    check(
      "25 tracks of an album",
      try magic.objects(
        of: Track.self, where: \.$album == album, orderedBy: [.ascending(\.$name)]
      ).map(\.name),
      shop.tracks.filter { $0.album?.id == album.id }.map(\.name).sorted {
        Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8))
      })
    // 26. The same by the reverse relation.
    check(
      "26 tracks of an album by the reverse set",
      try magic.fetch(album.tracks.ordered(by: .ascending(\.$name))).map(\.name),
      shop.tracks.filter { $0.album?.id == album.id }.map(\.name).sorted {
        Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8))
      })
    // 27. Revenue per artist, the five best.
    let revenue = Dictionary(
      grouping: shop.lines.filter { $0.track?.album?.artist != nil },
      by: { $0.track!.album!.artist!.id }
    ).mapValues { $0.reduce(Decimal(0)) { $0 + $1.price * Decimal($1.quantity) } }
    let bestArtists = revenue.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(5)
      .map { "\($0.key) \($0.value)" }
    let revenueRows = try magic.fetch(
      InvoiceLine.where(\.$track.$album.$artist.$id != nil).aggregate(
        .sum(\InvoiceLine.$price * \InvoiceLine.$quantity), by: \.$track.$album.$artist.$id,
        orderedBy: [.descending(.sum(\InvoiceLine.$price * \InvoiceLine.$quantity))], limit: 5))
    check(
      "27 revenue per artist",
      revenueRows.map { "\($0 ?? 0) \($1)" },
      bestArtists)
    // 28. The format is an enumeration.
    check(
      "28 enumeration",
      try magic.count(of: Track.self, where: \.$format == .video && \.$price != 0.99),
      shop.tracks.count { $0.format == .video && $0.price != 0.99 })
    check(
      "28b enumeration in",
      try magic.count(of: Track.self, where: (\Track.$format).isIn([.video, .aac])),
      shop.tracks.count { $0.format != .mpeg })
    // 29. Tracks that are in no playlist.
    let listed = Set(shop.playlistTracks.joined().map { shop.tracks[$0].id })
    check(
      "29 in no playlist", try magic.count(of: Track.self, where: (\Track.$playlists).isEmpty),
      shop.tracks.count { !listed.contains($0.id) })
    // 30. Tracks that are longer than the average of all tracks, with two queries.
    let average = try magic.fetch(Track.all.aggregate(.average(\.$milliseconds)))!
    check(
      "30 above average",
      try magic.count(of: Track.self, where: (\Track.$milliseconds).asDouble() > average),
      shop.tracks.count { Double($0.milliseconds) > average })
  }

  @Test(.requires(.collations)) func `every query feature returns the same as plain Swift`()
    throws
  {
    let shop = Shop(seed: 18)
    let magic = try shop.saved()
    let tracksOf = Dictionary(
      grouping: shop.tracks.filter { $0.album != nil }, by: { $0.album!.id })
    let albumsOf = Dictionary(
      grouping: shop.albums.filter { $0.artist != nil }, by: { $0.artist!.id })
    let invoicesOf = Dictionary(grouping: shop.invoices, by: \.customer.id)
    let linesOf = Dictionary(grouping: shop.lines, by: \.invoice.id)

    // 1. relations
    check(
      "1a count > 3",
      try magic.count(of: Customer.self, where: (\Customer.$invoices).count > 9),
      shop.customers.count { (invoicesOf[$0.id] ?? []).count > 9 })
    check(
      "1b contains",
      try magic.count(of: Customer.self, where: (\Customer.$invoices).contains { \.$total > 80 }),
      shop.customers.count { (invoicesOf[$0.id] ?? []).contains { $0.total > 80 } })
    check(
      "1c allSatisfy with nil",
      try magic.count(
        of: Customer.self,
        where: (\Customer.$invoices).allSatisfy { \.$paid != nil && \.$total < 70 }),
      shop.customers.count {
        (invoicesOf[$0.id] ?? []).allSatisfy { $0.paid != nil && $0.total < 70 }
      })
    check(
      "1d max of decimals",
      try magic.count(of: Customer.self, where: (\Customer.$invoices).max(\.$total) > 90),
      shop.customers.count { ((invoicesOf[$0.id] ?? []).map(\.total).max() ?? -1) > 90 })
    check(
      "1e two levels",
      try magic.count(of: Artist.self, where: (\Artist.$albums.$tracks).count > 40),
      shop.artists.count { artist in
        (albumsOf[artist.id] ?? []).reduce(0) { $0 + (tracksOf[$1.id] ?? []).count } > 40
      })
    check(
      "1f siblings",
      try magic.count(of: Track.self, where: (\Track.$album.$tracks).count > 12),
      shop.tracks.count { ($0.album.map { (tracksOf[$0.id] ?? []).count } ?? 0) > 12 })
    check(
      "1g average by customer",
      try magic.fetch(Customer.all.values((\Customer.$invoices).average(\.$total))),
      shop.customers.map { customer in
        guard let invoices = invoicesOf[customer.id] else { return nil }
        return invoices.reduce(Decimal(0)) { $0 + $1.total } / Decimal(invoices.count)
      })
    check(
      "1h sum with where",
      try magic.fetch(
        Customer.all.values((\Customer.$invoices).sum(\.$total, where: \.$paid == nil))
      ).map { $0! },
      shop.customers.map {
        (invoicesOf[$0.id] ?? []).filter { $0.paid == nil }.reduce(Decimal(0)) { $0 + $1.total }
      })
    check(
      "1i sum of sums",
      try magic.fetch(Customer.all.aggregate(.sum((\Customer.$invoices).sum(\.$total)))),
      shop.invoices.reduce(Decimal(0)) { $0 + $1.total })
    check(
      "1j contains an object",
      try magic.objects(of: Playlist.self, where: (\Playlist.$tracks).contains(shop.tracks[5])).map(
        \.id),
      shop.playlists.enumerated().filter { shop.playlistTracks[$0.offset].contains(5) }.map(
        \.element.id))
    check(
      "1k grandchildren of employees",
      try magic.fetch(Employee.all.values((\Employee.$customers.$invoices).sum(\.$total))).map {
        $0!
      },
      shop.employees.map { e in
        shop.invoices.filter { $0.customer.support?.id == e.id }.reduce(Decimal(0)) {
          $0 + $1.total
        }
      })

    // 2. calculations
    func column<V: Codable & SendableMetatype>(_ e: MagicExpression<Track, V>) throws -> [V?] {
      try magic.fetch(Track.ordered(by: .ascending(\.$id)).values(e))
    }
    check(
      "2 price * stock", try column(\Track.$price * \Track.$stock),
      shop.tracks.map { $0.price * Double($0.stock) })
    check(
      "2 % /", try column(\Track.$milliseconds / 1000 % 60),
      shop.tracks.map { $0.milliseconds / 1000 % 60 })
    check(
      "2 rating + 1", try column(\Track.$rating + 1), shop.tracks.map { $0.rating.map { $0 + 1 } })
    check(
      "2 lower", try column((\Track.$name).lowercased()), shop.tracks.map { $0.name.lowercased() })
    check(
      "2 upper", try column((\Track.$name).uppercased()), shop.tracks.map { $0.name.uppercased() })
    check("2 count", try column((\Track.$name).count), shop.tracks.map { $0.name.count })
    check(
      "2 prefix", try column((\Track.$name).prefix(4)),
      shop.tracks.map { String($0.name.prefix(4)) })
    check(
      "2 suffix", try column((\Track.$name).suffix(4)),
      shop.tracks.map { String($0.name.suffix(4)) })
    check(
      "2 replacing", try column((\Track.$name).replacing("e", with: "")),
      shop.tracks.map { $0.name.replacing("e", with: "") })
    check(
      "2 or", try column((\Track.$composer).or(\.$name)), shop.tracks.map { $0.composer ?? $0.name }
    )

    check("2 asInt", try column((\Track.$price).asInt()), shop.tracks.map { Int($0.price) })
    check(
      "2 asString", try column((\Track.$price).asString()), shop.tracks.map { String($0.price) })
    check(
      "2 asDecimal", try column((\Track.$price).asDecimal()), shop.tracks.map { Decimal($0.price) })
    check(
      "2 month", try magic.fetch(Invoice.all.values((\Invoice.$date).month)).map { $0! },
      shop.invoices.map { Calendar.utc.component(.month, from: $0.date) })
    check(
      "2 date + ", try magic.fetch(Invoice.all.values(\.$date + 86_400)).map { $0! },
      shop.invoices.map { $0.date + 86_400 })
    check(
      "2 paid - date", try magic.fetch(Invoice.all.values(\.$paid - \Invoice.$date)),
      shop.invoices.map { i in i.paid.map { $0.timeIntervalSince(i.date) } })
    check(
      "2 decimal order",
      try magic.objects(of: Customer.self, orderedBy: [.ascending(\.$credit), .ascending(\.$id)])
        .map(\.id),
      shop.customers.sorted { ($0.credit, $0.id) < ($1.credit, $1.id) }.map(\.id))
    check(
      "2 price * quantity decimal",
      try magic.fetch(InvoiceLine.all.values(\.$price * \InvoiceLine.$quantity)).map { $0! },
      shop.lines.map { $0.price * Decimal($0.quantity) })
    check(
      "2 order by nil last",
      try magic.objects(
        of: Track.self,
        orderedBy: [
          .ascending(.when(\.$rating == nil, then: 1, else: 0)), .descending(\.$rating),
          .ascending(\.$id),
        ], limit: 4
      ).map(\.rating),
      [5, 5, 5, 5])

    // 5. pages
    var seen: [Int] = []
    let order: [SortKey<Track>] = [.ascending((\Track.$name).lowercased()), .descending(\.$rating)]
    var page = try magic.fetch(Track.where(\.$price > 1).ordered(by: order).page(limit: 500))
    seen += page.objects.map(\.id)
    while page.hasMore {
      page = try magic.fetch(
        Track.where(\.$price > 1).ordered(by: order).page(after: page.end, limit: 500))
      seen += page.objects.map(\.id)
    }
    let all = try magic.objects(of: Track.self, where: \.$price > 1, orderedBy: order).map(\.id)
    check("5 pages", seen, all)
    let playlist = try magic.object(of: Playlist.self, primary: 3)
    seen = []
    var end: PagePosition<Track>?
    repeat {
      let page = try magic.fetch(
        playlist.tracks.ordered(by: .descending(\.$price)).page(after: end, limit: 40))
      seen += page.objects.map(\.id)
      end = page.hasMore ? page.end : nil
    } while end != nil
    check("5 pages of a list", seen.count, shop.playlistTracks[2].count)
    check("5 distinct", Set(seen).count, seen.count)

    // 8. search
    let found = try magic.fetch(
      Track.where(\.$price > 1).limit(10_000).search(.all(of: "montreal river")))
    check(
      "8 search", Set(found.map(\.value.id)),
      Set(
        shop.tracks.filter { t in
          let both = (t.name + " " + t.lyrics).split(separator: " ")
          return t.price > 1 && both.contains("Montréal") && both.contains("river")
        }.map(\.id)))
    check(
      "8 count by search of relations",
      try magic.count(
        of: Artist.self, where: (\Artist.$albums.$tracks).contains { .matching(.prefix("montr")) }),
      shop.artists.count { a in
        (albumsOf[a.id] ?? []).contains {
          (tracksOf[$0.id] ?? []).contains {
            ($0.name + " " + $0.lyrics).split(separator: " ").contains("Montréal")
          }
        }
      })

    // 9. SQL
    check(
      "9 sql",
      try magic.count(
        of: Track.self,
        where: Filter(sql: "\(\.$name) GLOB \("*[0-9]*") AND \(\.$album.$title) IS NOT NULL")
          && \.$price > 1),
      shop.tracks.count {
        $0.price > 1 && $0.album != nil && $0.name.contains { ("0"..."9").contains($0) }
      })

    // 7. insert
    let c2 = Customer(); c2.id = 9_999; c2.firstName = "New"; c2.lastName = "N";
    c2.email = "c2@example.org"; c2.country = "CH"; c2.credit = 1
    try magic.update(c2, matching: [\.$email])
    check("7 matching", c2.id, 2)
    check("7 matching", try magic.object(of: Customer.self, primary: 2).firstName, "New")
    check(
      "7 invoices stay", try magic.count(of: Invoice.self, where: \.$customer == c2),
      (invoicesOf[2] ?? []).count)

    // 6. writing
    let stock = shop.tracks.filter { $0.price > 1 }
    check(
      "6 updateAll",
      try magic.updateAll(Track.where(\.$price > 1), set: [\.$stock -= 1, \.$price *= 1.1]),
      stock.count)
    check(
      "6 values",
      try magic.fetch(Track.where(\.$price > 1).values(\.$stock, \.$price)).map { "\($0) \($1)" },
      stock.map { "\($0.stock - 1) \($0.price * 1.1)" })
    check(
      "6 trimmed",
      try magic.updateAll(Track.all, set: [.set(\.$name, to: (\Track.$name).trimmed() + " x")]),
      7000)
    check("6 searched", try magic.count(of: Track.self, where: .matching(.all(of: "x"))), 7000)
    check(
      "6 total",
      try magic.updateAll(
        Invoice.where(\.$id < 90_000),
        set: [.set(\.$total, to: (\Invoice.$lines).sum(\.$price * \.$quantity))]), 5000)
    check(
      "6 total values", try magic.fetch(Invoice.all.values(\.$total)), shop.invoices.map(\.total))
    check(
      "6 removeAll", try magic.removeAll(Customer.where((\Customer.$invoices).count > 9)),
      shop.customers.count { (invoicesOf[$0.id] ?? []).count > 9 })
    let gone = Set(shop.customers.filter { (invoicesOf[$0.id] ?? []).count > 9 }.map(\.id))
    check(
      "6 cascade", try magic.count(of: Invoice.self),
      shop.invoices.count { !gone.contains($0.customer.id) })
    check(
      "6 cascade", try magic.count(of: InvoiceLine.self),
      shop.invoices.filter { !gone.contains($0.customer.id) }.reduce(0) {
        $0 + (linesOf[$1.id] ?? []).count
      })
  }

  private func check<Value: Equatable>(
    _ name: String, _ found: @autoclosure () throws -> Value,
    _ wanted: @autoclosure () throws -> Value
  ) {
    #expect(throws: Never.self) {
      let (found, wanted) = (try found(), try wanted())
      #expect(found == wanted, "\(name)")
    }
  }

  private func utf8Less(_ left: String, _ right: String) -> Bool {
    Array(left.utf8).lexicographicallyPrecedes(Array(right.utf8))
  }
}

extension Calendar {
  fileprivate static var utc: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC") ?? .gmt
    return calendar
  }
}

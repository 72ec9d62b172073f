import Foundation
import MagicData

/// The tables of Chinook as objects, for a music shop with generated data.
enum Chinook {
  struct Artist: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @ReverseMagicValue(\Album.$artist) var albums: AsyncReverseMagicSet<Album>

    init() {}
  }

  struct Album: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @OptionalMagicValue var released: Date?
    @OptionalMagicValue var artist: Artist?
    @ReverseMagicValue(\Track.$album) var tracks: AsyncReverseMagicSet<Track>

    init() {}
  }

  struct Genre: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @ReverseMagicValue(\Track.$genre) var tracks: AsyncReverseMagicSet<Track>

    init() {}
  }

  enum Format: String, Codable, CaseIterable { case aac, mpeg, video }

  struct Track: MagicObject {
    static var traits: [PropertyTrait] {
      [.indexed(\Self.$milliseconds), .searched(\Self.$name, \Self.$lyrics)]
    }

    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @OptionalMagicValue var composer: String?
    @MagicValue var milliseconds: Int
    @MagicValue var bytes: Int
    @MagicValue var price: Double
    @MagicValue var stock: Int
    @MagicValue var format: Format
    @MagicValue var lyrics: String
    @OptionalMagicValue var rating: Int?
    @OptionalMagicValue var album: Album?
    @OptionalMagicValue var genre: Genre?
    @ReverseMagicValue(\Playlist.$tracks) var playlists: AsyncReverseMagicSet<Playlist>
    @ReverseMagicValue(\InvoiceLine.$track) var lines: AsyncReverseMagicSet<InvoiceLine>

    init() {}
  }

  struct Playlist: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var tracks: AsyncMagical<MagicalSet<Track>>

    init() {}
  }

  struct Employee: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var firstName: String
    @MagicValue var lastName: String
    @MagicValue var title: String
    @MagicValue var hired: Date
    @OptionalMagicValue var manager: Employee?
    @ReverseMagicValue(\Employee.$manager) var reports: AsyncReverseMagicSet<Employee>
    @ReverseMagicValue(\Customer.$support) var customers: AsyncReverseMagicSet<Customer>

    init() {}
  }

  struct Customer: MagicObject {
    static var traits: [PropertyTrait] { [.unique(\Self.$email), .indexed(\Self.$credit)] }

    @PrimaryMagicValue var id: Int
    @MagicValue var firstName: String
    @MagicValue var lastName: String
    @MagicValue var email: String
    @OptionalMagicValue var company: String?
    @MagicValue var country: String
    @MagicValue var credit: Decimal
    @OptionalMagicValue var support: Employee?
    @ReverseMagicValue(\Invoice.$customer) var invoices: AsyncReverseMagicSet<Invoice>

    init() {}
  }

  struct Invoice: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$customer, .cascade)] }

    @PrimaryMagicValue var id: Int
    @MagicValue var date: Date
    @OptionalMagicValue var paid: Date?
    @MagicValue var country: String
    @MagicValue var total: Decimal
    @MagicValue var customer: Customer
    @ReverseMagicValue(\InvoiceLine.$invoice) var lines: AsyncReverseMagicSet<InvoiceLine>

    init() {}
  }

  struct InvoiceLine: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$invoice, .cascade)] }

    @PrimaryMagicValue var id: Int
    @MagicValue var price: Decimal
    @MagicValue var quantity: Int
    @MagicValue var invoice: Invoice
    @OptionalMagicValue var track: Track?

    init() {}
  }
}

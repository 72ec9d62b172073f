import GRDB
import MagicData

/// Fetches objects with all that they lead to.
struct Relations: Case {
  let name = "relations"
  let summary = "fetch authors with ten books each, which are read after the clock has stopped"
  let usesItems = false

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: c, .record: record, .object: object, .grdbRecord: grdbRecord,
      .grdbCodable: grdbCodable,
    ]
  }

  func operations(on fixture: Fixture) -> Int { Library.owners(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(warm: Library(trial.fixture))
    let authors = try trial.measure { try connection.fetchAuthors() }
    return Checksum(of: authors)
  }

  private func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: Library(trial.fixture))
    let authors = try trial.measure {
      try database.read { connection in
        let authors = try connection.objects(of: AuthorRecord.self)
        let books = try connection.rightObjects(ofEach: authors, through: AuthorRecord.books)
        return zip(authors, books).map { Author(id: $0.id, name: $0.name, books: $1) }
      }
    }
    return Checksum(of: authors)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Library(trial.fixture))
    let objects = try trial.measure { try magic.object(of: AuthorObject.self) }
    return Checksum(of: objects.map(Author.init))
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: Library(trial.fixture))
    let authors = try trial.measure {
      try queue.read { database in
        try Author.including(all: Author.books).order(Column("id")).fetchAll(database)
      }
    }
    return Checksum(of: authors)
  }

  private func grdbCodable(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: Library(trial.fixture))
    let authors = try trial.measure {
      try queue.read { database in
        try CodableAuthor.including(all: CodableAuthor.books).order(Column("id"))
          .fetchAll(database)
      }
    }
    return Checksum(of: authors.map(Author.init))
  }
}

extension Author {
  fileprivate init(_ author: CodableAuthor) {
    id = author.id
    name = author.name
    books = author.books.map {
      Book(id: $0.id, title: $0.title, pages: $0.pages, price: $0.price)
    }
  }
}

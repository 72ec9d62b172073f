import GRDB
import MagicData

/// A case that fetches objects with all related objects and reads every value. Reading is included,
/// because some engines convert a value only when it is read.
struct Relations: Case {
  let name = "relations"
  let summary = "fetch authors with ten books each, and read every value"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: c, .record: record, .object: object, .grdbRecord: grdbRecord,
      .grdbCodable: grdbCodable,
    ]
  }

  func operations(on fixture: Fixture) -> Int { Library.owners(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(warm: Library(trial.fixture))
    return try trial.measure {
      let authors = try connection.fetchAuthors()
      return (authors, Checksum(of: authors))
    }.1
  }

  private func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: Library(trial.fixture))
    return try trial.measure {
      let (authors, books) = try database.read { connection in
        let authors = try connection.objects(of: AuthorRecord.self)
        return (
          authors, try connection.rightObjects(ofEach: authors, through: AuthorRecord.books)
        )
      }
      let found = zip(authors, books).map { Author(id: $0.id, name: $0.name, books: $1) }
      return (found, Checksum(of: found))
    }.1
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Library(trial.fixture))
    return try trial.measure {
      let authors = try magic.object(of: AuthorObject.self)
      return (authors, Checksum(of: authors))
    }.1
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: Library(trial.fixture))
    return try trial.measure {
      let authors = try queue.read { database in
        try Author.including(all: Author.books).order(Column("id")).fetchAll(database)
      }
      return (authors, Checksum(of: authors))
    }.1
  }

  private func grdbCodable(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: Library(trial.fixture))
    return try trial.measure {
      let authors = try queue.read { database in
        try CodableAuthor.including(all: CodableAuthor.books).order(Column("id"))
          .fetchAll(database)
      }
      return (authors, Checksum(of: authors))
    }.1
  }
}

extension Checksum {
  fileprivate init(of authors: [AuthorNode]) {
    for author in authors {
      add(id: author.id, name: author.name)
      for book in author.books {
        add(id: book.id, title: book.title, pages: book.pages, price: book.price)
      }
    }
  }

  fileprivate init(of authors: [AuthorObject]) {
    for author in authors {
      add(id: Int64(author.id), name: author.name)
      for book in author.books {
        add(id: Int64(book.id), title: book.title, pages: book.pages, price: book.price)
      }
    }
  }

  fileprivate init(of authors: [CodableAuthor]) {
    for author in authors {
      add(id: author.id, name: author.name)
      for book in author.books {
        add(id: book.id, title: book.title, pages: book.pages, price: book.price)
      }
    }
  }
}

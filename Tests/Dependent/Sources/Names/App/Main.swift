import MagicData

// A file that imports only MagicData can give a type another name.
typealias StoredRow = Row

@main struct Names {
  static func main() async throws {
    let magic = try await MagicData(type: .temporary)
    let note = Note()
    note.text = "text"
    try await magic.update(note)
    try await magic.database.write { try $0.insert(Page(id: 1)) }
    let rows: [StoredRow] = try await magic.database.executeQuery("SELECT text FROM Note")
    guard try await count(magic) == [1, 1, 1], value(of: "text", in: rows[0])?.asString() == "text",
      !plainTypes.isEmpty, !others.isEmpty
    else { fatalError("a value is wrong") }
    print("no name is ambiguous")
  }
}

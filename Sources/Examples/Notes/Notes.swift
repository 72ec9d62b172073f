import Foundation
import MagicData

/// A note with tags and an optional attachment.
struct Note: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$title, \Self.$text)] }

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var text: String
  @MagicValue var madeAt: Date
  @MagicValue var tags: MagicalSet<Tag>
  @MagicValue var attachment: MagicAsset<Data> = MagicAsset()

  init() {}

  init(_ title: String, _ text: String, tags: MagicalSet<Tag>) {
    self.title = title
    self.text = text
    self.madeAt = Date()
    self.tags = tags
  }
}

/// A tag that any number of notes can share. Its name is its primary value, so equal names refer to
/// the same tag.
struct Tag: MagicObject {
  @PrimaryMagicValue var name: String
  @ReverseMagicValue(\Note.$tags) var notes: AsyncReverseMagicSet<Note>

  init() {}

  init(_ name: String) { self.name = name }
}

/// An invalid command line.
struct UsageError: Error, CustomStringConvertible {
  var description: String
}

/// A program that keeps notes in a store: `Notes FOLDER COMMAND …`. Without arguments, it runs a
/// demonstration in a temporary store.
@main struct Notes {
  static let help = """
    usage: Notes FOLDER add TITLE TEXT [TAG …]   add a note
           Notes FOLDER find WORDS               find notes by words or prefixes
           Notes FOLDER tagged TAG               list the notes with a tag
           Notes FOLDER tags                     list the tags with the number of their notes
           Notes FOLDER attach ID FILE           attach a copy of a file to a note
           Notes FOLDER remove ID                remove a note and its file
    """

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      if words.isEmpty {
        try await demonstrate()
      } else if words.count == 1 {
        print(help)
      } else {
        let magic = try await MagicData(path: words[0])
        try await run(words[1], Array(words[2...]), in: magic)
      }
    } catch {
      FileHandle.standardError.write(Data("Notes: \(error)\n".utf8))
      exit(error is UsageError ? 64 : 1)
    }
  }

  private static func run(
    _ command: String, _ words: [String], in magic: MagicData
  ) async throws {
    switch (command, words.count) {
    case ("add", 2...):
      let note = Note(words[0], words[1], tags: MagicalSet(words[2...].map(Tag.init)))
      // Tags that already exist in the store are reused.
      try await magic.update(note)
      print("saved as \(note.id)")
    case ("find", 1...):
      let text = words.joined(separator: " ")
      let found = try await magic.fetch(Note.all.limit(20).search(.all(of: text).or(.prefix(text))))
      for result in found { print("\(result.value.id) \(result.value.title): \(result.snippet)") }
    case ("tagged", 1):
      let tag = try await magic.object(of: Tag.self, primary: words[0])
      for note in try await tag.notes.get() { show(note) }
    case ("tags", 0):
      for tag in try await magic.objects(of: Tag.self, orderedBy: [.ascending(\.$name)]) {
        print("\(tag.name) \(try await tag.notes.count())")
      }
    case ("attach", 2):
      let note = try await magic.object(of: Note.self, primary: try number(words[0]))
      note.attachment.copy(from: URL(filePath: words[1]))
      try await magic.update(note)
      print(
        "\(note.title) has \(try note.attachment.size) bytes at \(try note.attachment.path ?? "")"
      )
    case ("remove", 1):
      try await magic.remove(try await magic.object(of: Note.self, primary: try number(words[0])))
    default:
      throw UsageError(description: "unknown command: \(command)\n\(help)")
    }
  }

  private static func show(_ note: Note) {
    let tags = note.tags.map(\.name).sorted().map { " #\($0)" }.joined()
    print("\(note.id) \(note.title)\(tags)")
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text) else { throw UsageError(description: "\(text) is not a number") }
    return number
  }

  private static func demonstrate() async throws {
    let magic = try await MagicData(type: .temporary)
    for words in [
      ["add", "Milk", "Buy milk and apples", "home", "shopping"],
      ["add", "Roof", "The roof leaks above the apples", "home"],
      ["add", "Montréal", "Flights to Montréal in May", "travel"],
      ["find", "apples"], ["find", "montreal"], ["tagged", "home"], ["tags"],
      ["attach", "2", CommandLine.arguments[0]], ["remove", "2"], ["tags"],
    ] {
      print("$ Notes FOLDER", words.joined(separator: " "))
      try await run(words[0], Array(words[1...]), in: magic)
    }
    guard try await magic.assets.verify().isEmpty, try await magic.count(of: Note.self) == 2 else {
      throw UsageError(description: "the store does not have the expected content")
    }
  }
}

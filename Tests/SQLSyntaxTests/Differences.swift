/// A collection of differences: the number of each kind, and an example of each.
struct Differences: CustomStringConvertible {
  private(set) var count = 0
  private var kinds: [String: (count: Int, example: String)] = [:]

  mutating func add(_ difference: String, _ text: String) {
    count += 1
    // Ignores numbers and names, so that differences with the same cause are counted together.
    var kind = ""
    var quoted = false
    for character in difference.prefix(while: { $0 != "\n" }) {
      if character == "\"" { quoted.toggle() }
      if !quoted, !character.isNumber { kind.append(character) }
    }
    kinds[kind, default: (0, "")].count += 1
    let example = "\(difference)\n    \(text)"
    if let old = kinds[kind]?.example, old.isEmpty || example.utf8.count < old.utf8.count {
      kinds[kind]?.example = example
    }
  }

  mutating func add(_ difference: String, _ text: [UInt8]) {
    add(difference, String(decoding: text, as: UTF8.self))
  }

  var description: String {
    let sorted = kinds.values.sorted { $0.count > $1.count }
    return "\(count) differences\n"
      + sorted.prefix(40).map { "\($0.count) x \($0.example)" }.joined(separator: "\n")
  }
}

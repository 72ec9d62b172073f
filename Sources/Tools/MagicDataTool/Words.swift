import Terminal

/// The words of a command line behind the command's name, sorted.
struct Words {
  /// The options that are given without a value.
  private(set) var flags: Set<String> = []
  /// The options that are given with a value.
  private(set) var values: [String: String] = [:]
  /// What is no option, in order.
  private(set) var operands: [String] = []
  /// The values for parameters of SQL.
  private(set) var parameters: [String: String] = [:]

  /// Sorts `words` for a command.
  ///
  /// An option's value follows it, or stands behind `=` in the same word. Behind `--` nothing is an option.
  /// With `--:name`, the parameter of SQL is meant where the command has an option of that name.
  init(_ words: some Sequence<String>, of command: Command) throws(ToolError) {
    var words = Array(words)[...]
    var mayBeOption = true
    while let word = words.popFirst() {
      guard mayBeOption, word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      guard word != "--" else {
        mayBeOption = false
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let (name, attached) = (String(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
      if name == "--help" || command.flags.contains(name) {
        guard attached == nil else { throw .usage("\(name) takes no value") }
        flags.insert(name)
        continue
      }
      let isOption = command.options.contains(name)
      guard isOption || command.takesParameters && name.hasPrefix("--") else {
        throw .usage("unknown option \(name.quoted)")
      }
      guard let value = attached ?? words.first, attached != nil || !value.hasPrefix("--") else {
        throw .usage("\(name.quoted) needs a value; write \(name)=VALUE if it begins with --")
      }
      if attached == nil { words.removeFirst() }
      let parameter = String(name.dropFirst(name.hasPrefix("--:") ? 3 : 2))
      let isSecond =
        isOption
        ? values.updateValue(value, forKey: name) != nil
        : parameters.updateValue(value, forKey: parameter) != nil
      if isSecond { throw .usage("\(name.quoted) is used twice") }
    }
    guard !flags.contains("--help") else { return }
    guard command.operands.contains(operands.count) else {
      let isFew = operands.count < command.operands.lowerBound
      throw .usage(
        isFew
          ? "too few arguments"
          : "unexpected argument \(operands[command.operands.upperBound].quoted)")
    }
  }

  /// The number that an option names, or nil if it is not given.
  func number(_ option: String, in range: ClosedRange<Int>) throws(ToolError) -> Int? {
    guard let text = values[option] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw .usage(
        "\(option) must be a number from \(range.lowerBound) to \(range.upperBound), not "
          + "\(text.quoted)"
      )
    }
    return number
  }
}

import Terminal

/// The parsed arguments of a command.
struct Arguments {
  /// The options without a value, such as `--write`.
  private(set) var flags: Set<String> = []
  /// The values of the options that require one, keyed by the option, such as `--format`.
  private(set) var values: [String: String] = [:]
  /// The arguments that aren't options, in order.
  private(set) var operands: [String] = []
  /// The values of the SQL parameters, keyed by the name of the parameter.
  private(set) var parameters: [String: String] = [:]

  /// Parses the arguments that follow the name of `command`.
  ///
  /// The value of an option is the next argument, or follows `=` in the same argument. No argument
  /// after `--` is an option. `--:name` always sets the SQL parameter `name`, even if the command
  /// has an option `--name`.
  ///
  /// - Throws: `ToolError` with the exit status 2 if the arguments aren't valid for `command`.
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
      if name == "--help" || name == "--ask-key" || command.flags.contains(name) {
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
      let isDuplicate =
        isOption
        ? values.updateValue(value, forKey: name) != nil
        : parameters.updateValue(value, forKey: parameter) != nil
      if isDuplicate { throw .usage("\(name.quoted) is used twice") }
    }
    guard !flags.contains("--help") else { return }
    guard command.operands.contains(operands.count) else {
      let isTooFew = operands.count < command.operands.lowerBound
      throw .usage(
        isTooFew
          ? "too few arguments"
          : "unexpected argument \(operands[command.operands.upperBound].quoted)")
    }
  }

  /// Returns the value of an option as a number, or nil if the option is missing.
  ///
  /// - Throws: `ToolError` with the exit status 2 if the value isn't a number in `range`.
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

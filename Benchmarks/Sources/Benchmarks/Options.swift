/// What the command line asks for.
struct Options {
  private(set) var jsonPath: String?
  private(set) var chartPath: String?
  private(set) var filter = Filter(name: nil)
  private(set) var isListing = false
  private(set) var isQuick = false
  private(set) var isPlanting = false
  private var chosenRows: Int?

  static let usage = """
    usage: Benchmarks [--json FILE] [--svg FILE] [--filter NAME] [--rows N] [--quick] [--plant]
                      [--list]
      --json FILE    also write the measurements to FILE
      --svg FILE     also draw the ratios to C in FILE
      --filter NAME  measure one case, engine or case/engine, beside C
      --rows N       work on N rows instead of 200000
      --quick        few rows and runs: checks the results, the times mean nothing
      --plant        measure nothing: give each engine a wrong value, which must be found
      --list         name the cases and their engines
    """

  init(_ arguments: some Sequence<String>) throws {
    var arguments = arguments.makeIterator()
    while let argument = arguments.next() {
      switch argument {
      case "--json": jsonPath = try value(of: argument, from: &arguments)
      case "--svg": chartPath = try value(of: argument, from: &arguments)
      case "--filter": filter = try Filter(checking: value(of: argument, from: &arguments))
      case "--rows": chosenRows = try count(value(of: argument, from: &arguments))
      case "--quick": isQuick = true
      case "--plant": isPlanting = true
      case "--list": isListing = true
      default: throw Failure("unknown argument \(argument)\n\(Self.usage)", exitCode: 2)
      }
    }
  }

  var rows: Int { chosenRows ?? (isQuick || isPlanting ? 2_000 : 200_000) }

  /// The runs that count; an uncounted one goes before them.
  var runs: Int { isQuick ? 1 : 11 }

  private func value(
    of argument: String, from arguments: inout some IteratorProtocol<String>
  ) throws -> String {
    guard let value = arguments.next() else {
      throw Failure("\(argument) needs a value\n\(Self.usage)", exitCode: 2)
    }
    return value
  }

  private func count(_ text: String) throws -> Int {
    guard let count = Int(text), count > 0 else {
      throw Failure("--rows needs a positive number, not \(text)", exitCode: 2)
    }
    return count
  }
}

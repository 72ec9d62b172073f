/// The parsed arguments of the command line.
struct Options {
  private(set) var sourcePath: String?
  private(set) var jsonPath: String?
  private(set) var chartPath: String?
  private(set) var markdownPath: String?
  private(set) var filter = Filter(name: nil)
  private(set) var task = Task.measuring
  private(set) var isQuick = false
  private var chosenRows: Int?

  /// What the program does.
  enum Task {
    case measuring, counting, planting, listing, helping, memory, growth, importing, plans
  }

  static let usage = """
    usage: Benchmarks [--json FILE] [--svg FILE] [--markdown FILE] [--filter NAME] [--rows N]
                      [--from FILE]
                      [--quick | --count | --plant | --memory | --growth | --import | --plans
                       | --list | --help]
      --json FILE      also write the measurements to FILE
      --svg FILE       also write a chart of the ratios to C to FILE
      --markdown FILE  also write a table of the ratios to C to FILE
      --from FILE      measure nothing: use the measurements in FILE, written with --json
      --filter NAME    run only the case, the engine or the case/engine with this name, and C
      --rows N         use N rows instead of 200000
      --quick          use few rows and runs, to check the results; the times are meaningless
      --count          don't measure times: count allocations and, under callgrind, instructions
      --plant          don't measure times: check that a wrong value is detected in each engine
      --memory         measure the memory of fetched rows and of saved objects
      --growth         measure the ratios to C in databases of 500 to N rows (default: 5000000)
      --import         import Debian's package lists (N packages) with objects, with records and in C
      --plans          compare queries on related objects with the best SQL
      --list           list the cases and their engines
      --help           print this text

    Exit codes: 0 success; 1 wrong result or failed case; 64 invalid argument.
    """

  init(_ arguments: some Sequence<String>) throws {
    var arguments = arguments.makeIterator()
    while let argument = arguments.next() {
      switch argument {
      case "--from": sourcePath = try value(of: argument, from: &arguments)
      case "--json": jsonPath = try value(of: argument, from: &arguments)
      case "--svg": chartPath = try value(of: argument, from: &arguments)
      case "--markdown": markdownPath = try value(of: argument, from: &arguments)
      case "--filter": filter = try Filter(checking: value(of: argument, from: &arguments))
      case "--rows": chosenRows = try count(value(of: argument, from: &arguments))
      case "--quick": isQuick = true
      case "--count": task = .counting
      case "--plant": task = .planting
      case "--memory": task = .memory
      case "--growth": task = .growth
      case "--import": task = .importing
      case "--plans": task = .plans
      case "--list": task = .listing
      case "--help", "-h": task = .helping
      default: throw Failure.usage("unknown argument \(argument)\n\(Self.usage)")
      }
    }
  }

  var rows: Int {
    if let chosenRows { return chosenRows }
    return switch task {
    case .growth: isQuick ? 5_000 : 5_000_000
    case .importing: isQuick ? 2_000 : .max
    case .measuring, .memory: isQuick ? 2_000 : 200_000
    case .plans, .counting, .planting, .listing, .helping: 2_000
    }
  }

  /// The number of timed runs. A warm-up run precedes them.
  var runs: Int { isQuick ? 1 : 11 }

  /// The number of runs of each import. Fewer than ``runs``, because an import takes long.
  var imports: Int { isQuick ? 1 : 3 }

  private func value(
    of argument: String, from arguments: inout some IteratorProtocol<String>
  ) throws -> String {
    guard let value = arguments.next() else {
      throw Failure.usage("\(argument) needs a value\n\(Self.usage)")
    }
    return value
  }

  private func count(_ text: String) throws -> Int {
    guard let count = Int(text), count > 0 else {
      throw Failure.usage("--rows must be a positive number, not \(text)")
    }
    return count
  }
}

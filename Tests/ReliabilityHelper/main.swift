// Commands for the reliability tests that need a separate process.
import Foundation
import MagicData
import Workload

import CTracer

func run(_ arguments: [String]) throws {
  switch arguments.first {
  case "memory":
    var command = try MemoryCommand()
    try command.run(arguments[1] == "all" ? .max : Int(arguments[1]) ?? 0)
  case "work":
    var command = try WorkCommand(folder: arguments[1], process: Int(arguments[2]) ?? 0)
    try command.run(milliseconds: Int(arguments[3]) ?? 0)
  case "limit":
    try LimitCommand(folder: arguments[1], size: UInt64(arguments[2]) ?? 0).run()
  case "file":
    guard let work = FileWork(rawValue: arguments[1]) else {
      throw SQLiteError(.misuse, "unknown work")
    }
    try work.run(in: arguments[2])
  case "trace":
    exit(unsafe tracer_run(CommandLine.argc - 2, CommandLine.unsafeArgv + 2))
  case "look":
    // Opens a database, reads it and closes it, like any other program might.
    let database = try Database(path: arguments[1], options: .init(mode: .readWrite))
    print(try database.rows("SELECT count(*) FROM sqlite_schema", as: Int.self).first ?? 0)
    try database.close()
  default:
    throw SQLiteError(.misuse, "unknown command")
  }
}

do {
  try run(Array(CommandLine.arguments.dropFirst()))
} catch {
  print("\(error)")
  exit(2)
}

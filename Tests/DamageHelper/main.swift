// Damages a store in every possible way and makes all calls that read it. The last printed lines
// name the damage and the call that ended the process.
import Foundation
import MagicData
import Synchronization

/// Prints a line immediately, so that it is written before the process ends.
@Sendable func printLine(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let start = Int(arguments[2]), let step = Int(arguments[3]) else {
  fatalError("usage: DamageHelper <folder> <start> <step> some|all")
}
let folder = arguments[1]
let fixture = "\(folder)/fixture"
let files = FileManager.default
if !files.fileExists(atPath: "\(folder)/marks") {
  let marks = try await makeStore(at: fixture)
  try JSONEncoder().encode(marks).write(to: URL(filePath: "\(folder)/marks"))
}
let marks = try JSONDecoder().decode(
  Marks.self, from: Data(contentsOf: URL(filePath: "\(folder)/marks")))
let damages = try {
  let database = try Database(path: "\(fixture)/default.sqlite3")
  defer { try? database.close() }
  return try Damage.all(of: database, isShort: arguments[4] != "all")
}()

// Aborts the process if a call never ends.
let count = Atomic(0)
Thread.detachNewThread {
  var last = -1
  while true {
    Thread.sleep(forTimeInterval: 120)
    let current = count.load(ordering: .relaxed)
    if current == last { abort() }
    last = current
  }
}

for damage in damages {
  if let column = damage.column { printLine("column \(column.replacing(" ", with: "_"))") }
}
for index in stride(from: start, to: damages.count, by: step) {
  let damage = damages[index]
  printLine("damage \(index) \(damage)")
  let copy = "\(folder)/copy"
  try? files.removeItem(atPath: copy)
  try files.copyItem(atPath: fixture, toPath: copy)
  let database = try Database(path: "\(copy)/default.sqlite3")
  let isMade = try damage.make(in: database)
  try database.close()
  if isMade {
    if let column = damage.column { printLine("made \(column.replacing(" ", with: "_"))") }
    await Calls(folder: copy, marks: marks, isSyncOnly: damage.table.hasPrefix("magicdata_sync")) {
      printLine("call \($0)")
      count.add(1, ordering: .relaxed)
    }.run()
  }
  try files.removeItem(atPath: copy)
}
printLine("end")

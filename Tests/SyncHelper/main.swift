// Edits a store and exchanges its changes, as one of several devices, until it has made a number of
// edits or is killed: `SyncHelper <folder> <store> <device> <seed> <edits> <milliseconds> <level>`.
// The level is the number of migrations that the program knows.
//
// The program writes each edit to its journal: `? <edit>` before the commit, and `! <number>` after
// it. It kills itself after the milliseconds, unless they are 0.
import Foundation
import MagicData
import MagicSync
import SyncWorkload

let arguments = CommandLine.arguments
guard arguments.count == 8, let seed = UInt64(arguments[4]), let count = Int(arguments[5]),
  let time = Double(arguments[6]), let level = Int(arguments[7])
else {
  fatalError("usage: SyncHelper <folder> <store> <device> <seed> <edits> <milliseconds> <level>")
}
let (folder, store, device) = (arguments[1], arguments[2], arguments[3])
let parent = getppid()
if time > 0 {
  Thread.detachNewThread {
    Thread.sleep(forTimeInterval: time / 1_000)
    kill(getpid(), SIGKILL)
  }
}

let path = "\(folder)/journal-\(device)"
if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
let journal = try FileHandle(forWritingTo: URL(filePath: path))
try journal.seekToEnd()

let process = try await SyncProcess(folder: folder, store: store, name: device, level: level)
var editor = SyncEditor(
  seed: seed, device: device, after: try process.lastEdit(of: device), level: level)
while getppid() == parent, time > 0 || editor.number < count {
  if editor.number < count {
    let edit = try editor.edit(process.magic) { edit in
      // A line that a kill cuts off is followed by a complete one.
      let line = "\n? \(String(decoding: try JSONEncoder().encode(edit), as: UTF8.self))\n"
      try journal.write(contentsOf: Data(line.utf8))
    }
    if let edit { try journal.write(contentsOf: Data("\n! \(edit.number)\n".utf8)) }
  }
  if editor.number >= count || editor.pick(0..<6) == 0 { try await process.sync.once() }
}

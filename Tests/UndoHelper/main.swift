// Changes a store with undo and redo, or sends or applies patches, until the process is killed.
import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import UndoWorkload

let arguments = CommandLine.arguments
guard arguments.count >= 3, let seed = UInt64(arguments[2]) else {
  fatalError("usage: UndoHelper <path> <seed> [send|apply <folder>|restore <database>|undo]")
}
let magic = try MagicData(path: arguments[1])
var editor = RandomEditor(seed: seed)
let parent = getppid()

func printLine(_ text: String) {
  print(text)
  fflush(nil)
}

switch arguments.dropFirst(3).first {
case "send":
  printLine("ready")
  while getppid() == parent {
    _ = try magic.patch(assetsTo: arguments[4]) {
      for _ in 0..<editor.number(1..<5) { try editor.edit(magic) }
    }
    printLine("sent")
  }
case "apply":
  let patches = try PatchFolder(arguments[4])
  printLine("ready")
  while getppid() == parent {
    printLine(try patches.applyNext(to: magic) ? "applied" : "no patch")
  }
case "restore":
  try Database(path: arguments[4]).backup(to: magic.database)
case "undo":
  printLine(try magic.history(keeping: .inStore).undo() ?? "nothing")
default:
  let history = try magic.history(limit: 1_000, keeping: .inStore)
  printLine("ready")
  // Ends together with the test process.
  while getppid() == parent {
    switch editor.number(0..<8) {
    case 0, 1: try history.undo()
    case 2: try history.redo()
    default:
      try magic.undoable("edit") {
        for _ in 0..<editor.number(1..<5) { try editor.edit(magic) }
      }
    }
    printLine("changed")
  }
}

// Changes a store, undoes and redoes, until it is killed.
import UndoWorkload
import MagicData
import MagicHistory

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let arguments = CommandLine.arguments
guard arguments.count == 3, let seed = UInt64(arguments[2]) else {
  fatalError("usage: UndoHelper <path> <seed>")
}
let magic = try MagicData(path: arguments[1])
let history = try magic.history(limit: 1_000, keeping: .inStore)
var editor = RandomEditor(seed: seed)
print("ready")
fflush(nil)
let parent = getppid()
// Nor does it outlive the test.
while getppid() == parent {
  switch editor.number(0..<8) {
  case 0, 1: try history.undo()
  case 2: try history.redo()
  default:
    try magic.undoable("edit") {
      for _ in 0..<editor.number(1..<5) { try editor.edit(magic) }
    }
  }
}

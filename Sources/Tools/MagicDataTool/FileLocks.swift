import Essentials
import Platform

/// Who holds locks on a database file and on the index of its log.
struct FileLocks {
  /// A process that has the database open.
  struct Holder {
    let process: Int
    let program: String
    /// What its locks are for.
    let uses: [String]
  }

  /// The size of a file in bytes, or nil if there is none.
  static func size(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size].flatMap { ($0 as? any BinaryInteger).map { Int(clamping: $0) } }
  }

  /// Finds other processes with locks on a database, as Linux lists them; none on other systems.
  ///
  /// The list is read from `/proc/locks`: to open and close the file itself would give up the locks of this
  /// process.
  static func holders(of path: String) -> [Holder] {
    #if os(Linux)
      // It comes in pieces, and a lock that is given up between two of them hides another one: so it is read
      // several times.
      let list = (0..<5).map { _ in text(of: "/proc/locks") }.joined(separator: "\n")
      let files = [(path, false), (path + "-shm", true)].compactMap { path, isIndex in
        inode(of: path).map { (inode: $0, isIndex: isIndex) }
      }
      var uses: [Int: [String]] = [:]
      for line in list.split(separator: "\n") {
        // 1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128
        let fields = line.split(separator: " ")
        guard fields.count >= 8, fields[1] == "POSIX" || fields[1] == "OFDLCK",
          let process = Int(fields[4]), process != getpid(),
          let file = files.first(where: { $0.inode == fields[5] }), let first = Int(fields[6])
        else { continue }
        let use = name(of: first, isWrite: fields[3] == "WRITE", isIndex: file.isIndex)
        if !(uses[process, default: []].contains(use)) { uses[process, default: []].append(use) }
      }
      return uses.keys.sorted().map { process in
        let program =
          FileManager.default.contents(atPath: "/proc/\(process)/comm")
          .map { String(decoding: $0, as: UTF8.self) } ?? "unknown\n"
        return Holder(
          process: process, program: String(program.dropLast()), uses: uses[process] ?? [])
      }
    #else
      return []
    #endif
  }

  #if os(Linux)
    /// The text of a file whose size Linux does not tell, and which it gives in pieces that end where it likes
    /// (`FileManager.contents` stops at the first one that is short); empty if there is none.
    private static func text(of path: String) -> String {
      guard let file = unsafe fopen(path, "re") else { return "" }
      defer { unsafe fclose(file) }
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 1 << 14)
      while case let count = unsafe fread(&piece, 1, piece.count, file), count > 0 {
        bytes += piece.prefix(count)
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// What `/proc/locks` calls a file: device and number of the inode.
    private static func inode(of path: String) -> Substring? {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      // The way in which Linux packs the number of a device (`makedev`).
      let device = UInt64(status.st_dev)
      let major = (device >> 8) & 0xfff | (device >> 32) & 0xffff_f000
      let minor = device & 0xff | (device >> 12) & 0xffff_ff00
      func digits(_ number: UInt64) -> String {
        (number < 16 ? "0" : "") + String(number, radix: 16)
      }
      return "\(digits(major)):\(digits(minor)):\(status.st_ino)"
    }

    /// What the lock on a byte is for (SQLite's `os.h` and `walIndex` layouts).
    private static func name(of byte: Int, isWrite: Bool, isIndex: Bool) -> String {
      switch (byte, isIndex) {
      case (120, true): "writes"
      case (121, true): "makes a checkpoint"
      case (122, true): "recovers"
      case (123...127, true): "reads"
      case (_, true): "has it open"
      case (0x4000_0000, false): "waits to write"
      case (0x4000_0001, false): "writes"
      default: isWrite ? "writes, no readers" : "has it open"
      }
    }
  #endif
}

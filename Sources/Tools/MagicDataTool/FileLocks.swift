import Essentials
import Platform

/// The locks on a database file and on the index of its write-ahead log.
struct FileLocks {
  /// Another process that has the database open.
  struct Holder {
    let process: Int
    let program: String
    /// The purposes of the process's locks, such as "reads".
    let uses: [String]
  }

  /// Returns the size of a file in bytes, or nil if the file doesn't exist.
  static func size(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size].flatMap { ($0 as? any BinaryInteger).map { Int(clamping: $0) } }
  }

  /// Returns the other processes that hold locks on a database. Always empty on systems other than
  /// Linux.
  ///
  /// Reads `/proc/locks`, because opening and closing the database file would release this
  /// process's own locks (POSIX).
  static func holders(of path: String) -> [Holder] {
    #if os(Linux)
      // The kernel returns the list in several pieces. If a lock is released between two of them,
      // another lock can be missing. Reading the list five times makes that unlikely.
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
    /// Returns the text of a file in `/proc`, or an empty text if the file can't be opened. Linux
    /// reports no size for these files and returns short reads, at which `FileManager.contents`
    /// stops.
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

    /// Returns a file's identifier in `/proc/locks`, which consists of the device and the inode
    /// number; nil if the file doesn't exist.
    private static func inode(of path: String) -> Substring? {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      // Linux packs the device number like this (`makedev`).
      let device = UInt64(status.st_dev)
      let major = (device >> 8) & 0xfff | (device >> 32) & 0xffff_f000
      let minor = device & 0xff | (device >> 12) & 0xffff_ff00
      func digits(_ number: UInt64) -> String {
        (number < 16 ? "0" : "") + String(number, radix: 16)
      }
      return "\(digits(major)):\(digits(minor)):\(status.st_ino)"
    }

    /// Returns the purpose of a lock. It follows from the locked byte of the database file or of
    /// the index of the write-ahead log (see the constants in SQLite's `os.h` and `wal.c`).
    private static func name(of byte: Int, isWrite: Bool, isIndex: Bool) -> String {
      switch (byte, isIndex) {
      case (120, true): "writes"
      case (121, true): "checkpoints"
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

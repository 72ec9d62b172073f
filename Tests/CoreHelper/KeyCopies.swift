#if canImport(Glibc)
  import Glibc
  import SQLiteCore

  /// A search for copies of a secret in the private memory of this process.
  ///
  /// The secret itself, and the buffer with which the search reads memory, are in shared memory, so
  /// that the search doesn't find them.
  @safe final class KeyCopies {
    /// 32 random bytes.
    let bytes: UnsafeRawBufferPointer
    /// The bytes in hexadecimal digits, as SQLCipher expects the key.
    let digits: UnsafeRawBufferPointer
    private let buffer: UnsafeMutableRawBufferPointer
    private let memory = unsafe open("/proc/self/mem", O_RDONLY)

    init() {
      let size = 1 << 20
      guard
        let start = unsafe mmap(
          nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
      else { fatalError("no memory for the search") }
      for index in 0..<32 {
        let byte = UInt8.random(in: 0...255)
        unsafe start.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        for (offset, half) in [byte >> 4, byte & 15].enumerated() {
          let digit = half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "A") + half - 10
          unsafe start.storeBytes(of: digit, toByteOffset: 32 + 2 * index + offset, as: UInt8.self)
        }
      }
      unsafe bytes = UnsafeRawBufferPointer(start: start, count: 32)
      unsafe digits = UnsafeRawBufferPointer(start: start + 32, count: 64)
      unsafe buffer = UnsafeMutableRawBufferPointer(start: start + 4_096, count: size - 4_096)
    }

    /// Returns the addresses of the copies of `secret`.
    func addresses(of secret: UnsafeRawBufferPointer) -> [UInt] {
      guard let wanted = secret.baseAddress, let start = unsafe buffer.baseAddress else {
        return []
      }
      var found: [UInt] = []
      for var part in privateMemory() {
        while part.count >= secret.count {
          let size = unsafe min(part.count, buffer.count)
          let count = unsafe pread(memory, start, size, off_t(part.lowerBound))
          guard count >= secret.count else { break }
          var index = 0
          while index <= count - secret.count,
            let match = unsafe memchr(start + index, Int32(secret[0]), count - index)
          {
            index = unsafe UnsafeRawPointer(match) - UnsafeRawPointer(start)
            guard index <= count - secret.count else { break }
            if unsafe memcmp(match, wanted, secret.count) == 0 {
              found.append(part.lowerBound + UInt(index))
            }
            index += 1
          }
          part = part.dropFirst(count - secret.count + 1)
        }
      }
      return found
    }

    /// Returns the address ranges of memory that this process can write to and doesn't share.
    private func privateMemory() -> [Range<UInt>] {
      guard let file = unsafe fopen("/proc/self/maps", "r") else { return [] }
      defer { unsafe fclose(file) }
      var ranges: [Range<UInt>] = []
      var line = [CChar](repeating: 0, count: 5_000)
      while unsafe fgets(&line, Int32(line.count), file) != nil {
        let text = String(
          decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let fields = text.split(separator: " ")
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        if fields[1] == "rw-p" { ranges.append(ends[0]..<ends[1]) }
      }
      return ranges
    }
  }

  /// Opens a database with a random key, and prints the numbers of copies of the key in memory: while
  /// only the options hold it, while the database is open, and after both were released.
  func countKeyCopies(_ path: String, isPassphrase: Bool) throws {
    let copies = KeyCopies()
    let secret = isPassphrase ? unsafe copies.digits : unsafe copies.bytes
    // The text of the passphrase is the caller's, and isn't overwritten.
    var text: UInt?
    func count(_ state: String) {
      let bytes = unsafe copies.addresses(of: copies.bytes)
      let digits = unsafe copies.addresses(of: copies.digits).filter { $0 != text }
      print("\(state): \(bytes.count) bytes")
      print("\(state): \(digits.count) digits")
    }
    func use() throws {
      var options = Database.Options()
      if isPassphrase {
        var passphrase = unsafe String(decoding: secret, as: UTF8.self)
        text = passphrase.withUTF8 { UInt(bitPattern: $0.baseAddress) }
        options.key = Database.Key(passphrase: passphrase)
      } else {
        unsafe options.key = Database.Key(bytes: secret)
      }
      count("held")
      guard Capabilities.hasEncryption else {
        guard (try? Database(path: path, options: options)) == nil else {
          throw SQLiteError(.misuse, "SQLite can't encrypt, but accepts a key")
        }
        return
      }
      let database = try Database(path: path, options: options)
      try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      _ = try database.read { reader in
        try database.rows("SELECT count(*) FROM t", as: Int.self)
      }
      count("open")
      try database.close()
      count("closed")
    }
    try use()
    count("released")
  }

  /// Replaces the key of a database while no file can become larger than 1 MiB. The journal of the
  /// rekeying reaches this size when a part of the pages is written.
  ///
  /// - Parameters:
  ///   - path: The path of the database, with a key of 32 ones.
  ///   - isKilled: Whether the system kills the process then. If false, the write fails.
  func failToRekey(_ path: String, isKilled: Bool) throws {
    var options = Database.Options()
    options.key = Database.Key(bytes: [UInt8](repeating: 1, count: 32))
    // SQLite writes pages to the file before the end of the transaction.
    options.cacheSize = 100
    let database = try Database(path: path, options: options)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    var limit = rlimit(rlim_cur: 1 << 20, rlim_max: rlim_t.max)
    unsafe setrlimit(resource, &limit)
    // The signal that such a write sends may be blocked.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGXFSZ)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    signal(SIGXFSZ, isKilled ? SIG_DFL : SIG_IGN)
    do {
      try database.rekey(to: Database.Key(bytes: [UInt8](repeating: 2, count: 32)))
      print("the key was replaced")
    } catch {
      print("\(error)")
    }
    limit.rlim_cur = rlim_t.max
    unsafe setrlimit(resource, &limit)
    try database.executeChange("INSERT INTO t (a) VALUES ('afterwards')")
  }
#endif

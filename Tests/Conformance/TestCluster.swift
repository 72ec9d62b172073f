import Foundation
package import SQLiteCluster
package import SQLiteCore
import Synchronization

/// A cluster of real nodes on the loopback interface: processes of `Fixture/node.c`, which is compiled when
/// it is first needed.
package final class TestCluster: Sendable {
  /// A node's process. When its standard input ends, which it does with this process, it ends too.
  private struct Node {
    let id: UInt64
    let address: String
    /// Where it listens, if a proxy stands at its address.
    let ownAddress: String?
    let folder: String
    var process: pid_t?
    /// Whether the process was asked to hand on the lead.
    var hasHandedOn = false
    /// The end that is written to, of what the process reads.
    var input: Int32 = -1
  }

  /// Where the nodes keep their files, and tests theirs; it goes away with the cluster.
  package let folder: String
  private let nodes: Mutex<[Node]>
  package let addresses: [String]
  /// The network between the nodes, if it is one that can be cut.
  package let network: TestNetwork?

  /// The program, or nil where `libdqlite-dev` or a C compiler is not there.
  static let program: String? = {
    guard FileManager.default.fileExists(atPath: "/usr/include/dqlite.h") else { return nil }
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixture/node.c").path(percentEncoded: false)
    let temporary = FileManager.default.temporaryDirectory
    removeLeftOvers(in: temporary.path(percentEncoded: false))
    let program =
      temporary
      .appending(path: "\(programPrefix)\(ProcessInfo.processInfo.processIdentifier)").path(
        percentEncoded: false)
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["cc", source, "-ldqlite", "-o", program]
    guard (try? compiler.run()) != nil else { return nil }
    compiler.waitUntilExit()
    return compiler.terminationStatus == 0 ? program : nil
  }()

  package static let isThere = program != nil
  package static let reason = "libdqlite-dev and cc are needed for a real cluster"

  /// The cluster of all suites that run on every engine.
  package static let shared: Result<TestCluster, any Error> = Result {
    // What is kept for the whole process is let go by nobody else.
    atexit {
      if let cluster = try? TestCluster.shared.get() { cluster.end() }
      if let program = TestCluster.program { try? FileManager.default.removeItem(atPath: program) }
    }
    return try TestCluster()
  }

  /// Starts nodes and makes all of them voters.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - hasNetwork: Whether proxies stand between the nodes, and between them and the clients.
  package init(count: Int = 3, hasNetwork: Bool = false) throws {
    // No test takes the power away, so that nothing needs to reach a disk.
    let memory = "/dev/shm"
    let place =
      FileManager.default.isWritableFile(atPath: memory)
      ? memory : FileManager.default.temporaryDirectory.path(percentEncoded: false)
    TestCluster.removeLeftOvers(in: place)
    let process = ProcessInfo.processInfo.processIdentifier
    folder = "\(place)/\(TestCluster.prefix)\(process)-\(UUID().uuidString)"
    let ids = (0..<count).map { $0 == 0 ? TestCluster.firstID : UInt64($0 + 1) }
    network = hasNetwork ? try TestNetwork(ids: ids) : nil
    var made: [Node] = []
    for (index, id) in ids.enumerated() {
      let path = folder + "/\(index)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let own = "127.0.0.1:\(try TestCluster.freePort())"
      let proxy = network?.addresses[index]
      made.append(
        Node(id: id, address: proxy ?? own, ownAddress: proxy == nil ? nil : own, folder: path))
      network?.connect(index, to: own)
    }
    addresses = made.map(\.address)
    nodes = Mutex(made)
    for index in 0..<count { try start(index) }
    for node in made.dropFirst() {
      try atLeader { leader in
        var add = Request(.add)
        add.append(node.id)
        try add.append(node.address, named: "an address")
        _ = try leader.call(add, .empty)
        var assign = Request(.assign)
        assign.append(node.id)
        assign.append(0)
        _ = try leader.call(assign, .empty)
      }
    }
  }

  deinit { end() }

  private static let prefix = "magicdata-cluster-"
  private static let programPrefix = "magicdata-node-"

  /// Removes what processes that were killed have left.
  package static func removeLeftOvers(in place: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
      guard let prefix = [prefix, programPrefix].first(where: { name.hasPrefix($0) }),
        let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }
        ),
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      try? FileManager.default.removeItem(atPath: "\(place)/\(name)")
    }
  }

  private func end() {
    nodes.withLock { nodes in
      for index in nodes.indices { TestCluster.end(&nodes[index]) }
    }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// dqlite bootstraps a cluster by a node of this number.
  private static let firstID: UInt64 = 0x2dc1_7185_8c31_55be

  /// How many ports were tried.
  private static let portCount = Mutex(Int(ProcessInfo.processInfo.processIdentifier) * 64)

  /// A port that nobody has, below those that the system gives to sockets of its own choice: a node that is
  /// killed finds it free when it starts again.
  private static func freePort() throws -> UInt16 {
    for _ in 0..<1_000 {
      let number = portCount.withLock { count in
        count += 1
        return count
      }
      let port = UInt16(10_000 + number % 20_000)
      if isFree(port) { return port }
    }
    throw SQLiteError(.cannotOpen, "there is no free port")
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Starts a node again that was killed.
  package func start(_ index: Int) throws {
    try nodes.withLock { nodes in
      let ends = try TestCluster.pipe() + TestCluster.pipe()
      var actions = unsafe posix_spawn_file_actions_t()
      unsafe posix_spawn_file_actions_init(&actions)
      defer { unsafe posix_spawn_file_actions_destroy(&actions) }
      unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, ends[3], 1)
      unsafe posix_spawn_file_actions_addopen(
        &actions, 2, nodes[index].folder + ".log", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      var words = [
        TestCluster.program ?? "", "\(nodes[index].id)", nodes[index].address, nodes[index].folder,
      ]
      if let own = nodes[index].ownAddress { words.append(own) }
      let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
      defer { unsafe arguments.forEach { unsafe free($0) } }
      var process: pid_t = 0
      let code = unsafe posix_spawn(&process, words[0], &actions, nil, arguments, environ)
      guard code == 0 else { throw SQLiteError(.cannotOpen, "a node does not start") }
      close(ends[0])
      close(ends[3])
      var byte: UInt8 = 0
      let count = unsafe read(ends[2], &byte, 1)
      close(ends[2])
      nodes[index].process = process
      nodes[index].hasHandedOn = false
      nodes[index].input = ends[1]
      guard count == 1 else {
        TestCluster.end(&nodes[index])
        throw SQLiteError(.cannotOpen, "a node has not started")
      }
    }
  }

  /// The two ends of a pipe, which are closed at the beginning of whatever else this process starts.
  private static func pipe() throws -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw SQLiteError(.cannotOpen, "there is no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private static func end(_ node: inout Node) {
    if let process = node.process {
      kill(process, SIGKILL)
      var status: Int32 = 0
      unsafe waitpid(process, &status, 0)
    }
    if node.input >= 0 { close(node.input) }
    node.process = nil
    node.input = -1
  }

  /// Sends a signal to a node; waits for its end if it is SIGKILL, and until it stands still if SIGSTOP.
  package func signal(_ index: Int, _ number: Int32) {
    nodes.withLock { nodes in
      if number == SIGKILL {
        TestCluster.end(&nodes[index])
      } else if let process = nodes[index].process {
        kill(process, number)
        // It stops some time later: until then it might answer.
        var status: Int32 = 0
        if number == SIGSTOP { unsafe waitpid(process, &status, WUNTRACED) }
      }
    }
  }

  /// Whether a node's process runs.
  package func isRunning(_ index: Int) -> Bool { end(of: index) == nil }

  /// How a node's process has ended by itself, and the last it said; nil if it runs.
  package func end(of index: Int) -> String? {
    nodes.withLock { nodes in
      guard let process = nodes[index].process else { return "it was killed" }
      var status: Int32 = 0
      guard unsafe waitpid(process, &status, WNOHANG) != 0 else { return nil }
      let log = (try? String(contentsOfFile: nodes[index].folder + ".log", encoding: .utf8)) ?? ""
      return "status \(status): \(log.suffix(2_000))"
    }
  }

  /// The index of the node that leads.
  package func leader() throws -> Int {
    var found: Int?
    try atLeader { leader in found = addresses.firstIndex(of: leader.address) }
    guard let found else { throw SQLiteError(.notFound, "the leader is none of the nodes") }
    return found
  }

  /// Has the node that leads hand the lead to another one.
  package func transferLead(to index: Int) throws {
    let id = nodes.withLock { $0[index].id }
    try atLeader { leader in
      var request = Request(.transfer)
      request.append(id)
      if let leading = addresses.firstIndex(of: leader.address) {
        nodes.withLock { $0[leading].hasHandedOn = true }
      }
      _ = try leader.call(request, .empty)
    }
  }

  /// Starts a node again that has ended since it had handed on the lead, as one of version 1.11 does if it is
  /// asked for a change meanwhile. Returns whether it has.
  package func revive(_ index: Int) throws -> Bool {
    guard nodes.withLock({ $0[index].hasHandedOn }), end(of: index) != nil else { return false }
    signal(index, SIGKILL)
    try start(index)
    return true
  }

  private func atLeader(_ body: (NodeConnection) throws -> Void) throws {
    let cluster = try Cluster(addresses, database: "probe", ClusterOptions())
    try body(try cluster.openAtLeader(before: .now + .seconds(20)).connection)
  }

  /// Opens a database of the cluster.
  package func database(
    _ name: String = "test", _ change: (inout ClusterOptions) -> Void = { _ in }
  ) throws -> Database {
    var options = ClusterOptions()
    change(&options)
    return try Database(cluster: addresses, name: name, options: options)
  }
}

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
    /// How the process has ended by itself, and the last it said; nil if it has not.
    var ending: String?
    /// The end that is written to, of what the process reads.
    var input: Int32 = -1
    /// The end that is read from, of what the process writes.
    var output: Int32 = -1

    var log: String {
      let text = (try? String(contentsOfFile: folder + ".log", encoding: .utf8)) ?? ""
      return String(text.suffix(2_000))
    }
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
    for place in places { removeLeftOvers(in: place) }
    // Clusters that are kept for the whole process are released by nobody else.
    atexit {
      for place in TestCluster.places {
        TestCluster.removeLeftOvers(in: place, ofThisProcess: true)
      }
    }
    let program = "\(places[0])/\(programPrefix)\(ProcessInfo.processInfo.processIdentifier)"
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["cc", source, "-ldqlite", "-o", program]
    guard (try? compiler.run()) != nil else { return nil }
    compiler.waitUntilExit()
    return compiler.terminationStatus == 0 ? program : nil
  }()

  package static let isThere = {
    if program == nil { ConformanceReport.noteNoCluster() }
    return program != nil
  }()
  package static let reason = "libdqlite-dev and cc are needed for a real cluster"

  /// The cluster of all suites that run on every engine.
  package static let shared: Result<TestCluster, any Error> = Result { try TestCluster() }

  /// Where programs and clusters keep their files: the temporary folder, and memory, if there is some. No test takes
  /// the power away, so that nothing of a cluster needs to reach a disk.
  private static let places = {
    let memory = ProcessInfo.processInfo.environment["MAGICDATA_TEST_MEMORY"] ?? "/dev/shm"
    return [
      NSTemporaryDirectory(),
      FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory(),
    ]
  }()

  /// Starts nodes and makes all of them voters.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - hasNetwork: Whether proxies stand between the nodes, and between them and the clients.
  package init(count: Int = 3, hasNetwork: Bool = false) throws {
    let process = ProcessInfo.processInfo.processIdentifier
    folder = "\(TestCluster.places[1])/\(TestCluster.prefix)\(process)-\(UUID().uuidString)"
    let ids = (0..<count).map { $0 == 0 ? TestCluster.firstID : UInt64($0 + 1) }
    network = hasNetwork ? try TestNetwork(ids: ids) : nil
    var made: [Node] = []
    for (index, id) in ids.enumerated() {
      let path = folder + "/\(index)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let own = try TestCluster.freeAddress()
      let proxy = network?.addresses[index]
      made.append(
        Node(id: id, address: proxy ?? own, ownAddress: proxy == nil ? nil : own, folder: path))
      network?.connect(index, to: own)
    }
    addresses = made.map(\.address)
    nodes = Mutex(made)
    for index in 0..<count { try start(index) }
    let end = ContinuousClock.now + .seconds(60)
    var isWhole = false
    while !isWhole {
      do {
        try atLeader { try makeVoters(made.dropFirst(), $0) }
        isWhole = true
      } catch let error as SQLiteError where error.isOfLostLeader && .now < end {
        // Another node has been elected meanwhile, on a busy machine.
      }
    }
  }

  private func makeVoters(_ nodes: ArraySlice<Node>, _ leader: NodeConnection) throws {
    let present = try leader.nodes(before: .now + .seconds(20))
    for node in nodes {
      let role = present.first { $0.id == node.id }?.role
      if role == nil {
        var add = Request(.add)
        add.append(node.id)
        try add.append(node.address, named: "an address")
        _ = try leader.call(add, .empty)
      }
      guard role != .voter else { continue }
      var assign = Request(.assign)
      assign.append(node.id)
      assign.append(0)
      _ = try leader.call(assign, .empty)
    }
  }

  deinit { end() }

  private static let prefix = "magicdata-cluster-"
  private static let programPrefix = "magicdata-node-"

  /// Removes the files of processes that were killed, and ends their nodes: one that was stopped stays otherwise.
  ///
  /// - Parameters:
  ///   - place: The folder that they are in.
  ///   - isOwn: Whether the files are those of this process, which ends.
  package static func removeLeftOvers(in place: String, ofThisProcess isOwn: Bool = false) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
      guard let prefix = [prefix, programPrefix].first(where: { name.hasPrefix($0) }),
        let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }
        ), isOwn ? process == getpid() : kill(process, 0) != 0 && errno == ESRCH
      else { continue }
      for node in nodes(in: "\(place)/\(name)/") { kill(node, SIGKILL) }
      for _ in 0..<1_000 where FileManager.default.fileExists(atPath: "\(place)/\(name)") {
        // A node that is ending may still make a file.
        if (try? FileManager.default.removeItem(atPath: "\(place)/\(name)")) == nil {
          usleep(1_000)
        }
      }
    }
  }

  /// The processes of nodes whose folder is in another one.
  private static func nodes(in folder: String) -> [pid_t] {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.compactMap { pid_t($0) }.filter { process in
      let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return String(decoding: line, as: UTF8.self).split(separator: "\0").contains {
        $0.hasPrefix(folder)
      }
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

  /// The loopback address of this process, which no other one has: so a node that was killed finds its port free when it
  /// starts again, and no client asks a node of another run.
  static let host: String = {
    let process = Int(getpid())
    return "127.\(1 + process >> 16 & 0x3f).\(process >> 8 & 255).\(process & 255)"
  }()

  private static let portCount = Mutex(10_000)

  /// An address that no other node has or had, below the ports that the system gives to sockets of its own choice.
  private static func freeAddress() throws -> String {
    while true {
      let port = portCount.withLock { count in
        count += 1
        return count
      }
      guard port < 30_000 else { throw SQLiteError(.cannotOpen, "there is no free port") }
      if isFree(UInt16(port)) { return "\(host):\(port)" }
    }
  }

  /// Whether nobody listens at a port.
  ///
  /// It doesn't bind the port: a process that another thread starts meanwhile would inherit the socket, and so keep the
  /// port.
  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = unsafe inet_addr(host)
    return unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
      }
    }
  }

  /// Starts a node again that was killed.
  package func start(_ index: Int) throws {
    try nodes.withLock { nodes in
      // Else a node might inherit the ends of another one's pipe, which would not end with their owners then.
      let (process, input, output) = try TestCluster.spawning.withLock { _ in
        try TestCluster.spawn(nodes[index])
      }
      nodes[index].process = process
      nodes[index].hasHandedOn = false
      nodes[index].ending = nil
      (nodes[index].input, nodes[index].output) = (input, output)
      // It takes connections once it has said so.
      var byte: UInt8 = 0
      guard unsafe read(output, &byte, 1) == 1 else {
        TestCluster.end(&nodes[index])
        throw SQLiteError(
          .cannotOpen, "the node at \(nodes[index].address) has not started: \(nodes[index].log)")
      }
    }
  }

  private static let spawning = Mutex(())

  /// Starts a node's process; returns it, and the ends of its pipes.
  private static func spawn(_ node: Node) throws -> (process: pid_t, input: Int32, output: Int32) {
    let ends = try pipe() + pipe()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[3], 1)
    unsafe posix_spawn_file_actions_addopen(
      &actions, 2, node.folder + ".log", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words = [
      program ?? "", "\(node.id)", node.address, node.folder,
    ]
    if let own = node.ownAddress { words.append(own) }
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, words[0], &actions, nil, arguments, environ)
    guard code == 0 else { throw SQLiteError(.cannotOpen, "a node does not start") }
    close(ends[0])
    close(ends[3])
    return (process, ends[1], ends[2])
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
    for descriptor in [node.input, node.output] where descriptor >= 0 { close(descriptor) }
    node.process = nil
    (node.input, node.output) = (-1, -1)
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
  ///
  /// Also returns how a process ends that is still closing its files: clients notice the end of a connection before
  /// the process is gone.
  package func end(of index: Int) -> String? {
    nodes.withLock { nodes in
      guard let process = nodes[index].process else {
        return nodes[index].ending ?? "it was killed"
      }
      guard TestCluster.isEnding(process) else { return nil }
      var status: Int32 = 0
      unsafe waitpid(process, &status, 0)
      nodes[index].process = nil
      nodes[index].ending =
        "status \(status)\(nodes[index].hasHandedOn ? ", after it was asked to hand on the lead" : ""): \(nodes[index].log)"
      TestCluster.end(&nodes[index])
      return nodes[index].ending
    }
  }

  /// Whether a process has ended or is exiting, by the kernel's flag PF_EXITING, which is set before the process closes
  /// its files.
  private static func isEnding(_ process: pid_t) -> Bool {
    let line = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
    // The name of the program, in parentheses, may contain blanks.
    let fields = String(decoding: line, as: UTF8.self).split(separator: ")").last?.split(
      separator: " ")
    guard let fields, fields.count > 6, let flags = UInt32(fields[6]) else { return true }
    return fields[0] == "Z" || flags & 4 != 0
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

  /// Starts a node again if it has ended by itself, as one of version 1.11 does for faults of its own when the lead
  /// changes. Returns how it has ended.
  package func revive(_ index: Int) throws -> String? {
    guard let end = end(of: index) else { return nil }
    try start(index)
    return end
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

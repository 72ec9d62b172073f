/// Copies the fuzzer's bytes to an array.
package func copy(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
  guard let start = unsafe start else { return [] }
  return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
    unsafe buffer.baseAddress?.update(from: start, count: count)
    size = count
  }
}

/// Ends the process if the check finds a fault, which is how fuzzers detect faults.
package func expectNoFault(_ check: () throws -> String?) {
  do {
    if let problem = try check() { fatalError(problem) }
  } catch {
    fatalError("\(error)")
  }
}

import Platform

/// The system's words for an error number (`strerror_r`, in the form of POSIX).
package func systemMessage(_ number: Int32) -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    unsafe buffer.initialize(repeating: 0)
    guard let start = buffer.baseAddress, unsafe strerror_r(number, start, buffer.count) == 0 else {
      return "system error \(number)"
    }
    return unsafe String(cString: start)
  }
}

extension TextBuffer {
  /// Appends a key, quoted if it must be, and returns a hash of its bytes.
  @discardableResult
  package mutating func append(key: String) -> UInt32 {
    var key = key
    return key.withUTF8 { text in
      var hash: UInt32 = 2_166_136_261
      var isBare = !text.isEmpty
      for index in text.indices {
        let byte = unsafe text[index]
        hash = (hash ^ UInt32(byte)) &* 16_777_619
        if !byte.isBareKey { isBare = false }
      }
      if isBare {
        unsafe bytes.append(contentsOf: text)
      } else {
        unsafe quote(text)
      }
      return hash
    }
  }

  private mutating func quote(_ key: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "`"))
    unsafe appendEscaped(String(decoding: key, as: UTF8.self))
    bytes.append(UInt8(ascii: "`"))
  }
}

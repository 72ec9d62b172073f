import Terminal
import Testing
import Tour

@Suite struct StringVisibleTests {
  @Test(arguments: [
    ("", ""), ("Åland & Co.", "Åland & Co."), ("\u{1B}[31m", "\\u{1B}[31m"),
    ("a\r\nb\tc", "a\\u{D}\\u{A}b\\u{9}c"),
    ("\u{0}\u{1F}\u{7F}\u{9B}", "\\u{0}\\u{1F}\\u{7F}\\u{9B}"),
    ("\u{20}~\u{A0}é", "\u{20}~\u{A0}é"),
  ])
  func `control characters are escaped, other characters are unchanged`(
    text: String, visible: String
  ) {
    #expect(Array(text.visible.unicodeScalars) == Array(visible.unicodeScalars))
  }

  @Test func `a quoted text is truncated after 60 scalars`() {
    let scalars = "e" + String(repeating: "\u{301}", count: 59)
    #expect(scalars.quoted == "\"\(scalars)\"")
    #expect((scalars + "\u{301}").quoted == "\"\(scalars)…\"")
  }
}

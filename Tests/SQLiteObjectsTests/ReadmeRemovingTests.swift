import Conformance
import MagicData
import Testing

private struct Ticket: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var isExpired: Bool
  init() {}
  init(isExpired: Bool) { self.isExpired = isExpired }
}

@Suite(.everyEngine) struct ReadmeRemovingTests {
  @Test func `the article's example of removing several objects works`() throws {
    let magic = try MagicData.fresh()
    try magic.update([Ticket(isExpired: true), Ticket(isExpired: false), Ticket(isExpired: true)])
    let expired = try magic.objects(of: Ticket.self, where: \.$isExpired == true)
    let count = try magic.remove(contentsOf: expired)
    #expect(count == 2)
    #expect(try magic.count(of: Ticket.self) == 1)
  }
}

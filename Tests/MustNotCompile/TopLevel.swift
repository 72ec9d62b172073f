import MagicData

// In top-level code, Swift selects the blocking form of a call even after `await`. The compiler warns, or
// rejects the call with a message that names the remedy, which is a function.

struct City: MagicObject {
  @MagicValue var name: String

  init() {}
}

// expected-warning@+1 {{no 'async' operations occur}}
let magic = try await MagicData(path: "cities")
// expected-warning@+1 {{no 'async' operations occur}}
let cities = try await magic.fetch(City.all)
// expected-warning@+1 {{no 'async' operations occur}}
if try await magic.count(of: City.self, where: \.$name == "Bern") > 0 {
  // expected-warning@+1 {{no 'async' operations occur}}
  try await magic.remove(cities[0])
}
// expected-warning@+2 {{no 'async' operations occur}}
// expected-error@+1 {{`await` needs a Sendable result and a @Sendable closure, in a function}}
try await magic.transaction { try magic.update(cities) }
// expected-warning@+2 {{no 'async' operations occur}}
// expected-error@+1 {{`await` needs a Sendable result, or write(giving:_:), in a function}}
try await magic.database.write { try $0.executeChange("DELETE FROM City") }

/// This call has only an `async` form, so the compiler doesn't warn about the blocking call in its argument.
nonisolated func names(of cities: [City]) async -> [String] { cities.map(\.name) }
print(try await names(of: magic.fetch(City.all)))

/// In a function, `await` selects the form that suspends.
func run() async throws {
  let magic = try await MagicData(path: "cities")
  let cities = try await magic.fetch(City.all)
  try await magic.transaction { try magic.update(cities) }
  try await magic.database.write { _ = try $0.executeChange("DELETE FROM City") }
}
try await run()
try await { _ = try await magic.fetch(City.all) }()

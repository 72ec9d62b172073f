// The example of the article “Results in views”. `.ci/checks/swiftui` type-checks it with the main
// actor as the default isolation, like a new Xcode project. It is never run.
import MagicData
import MagicObservation
import SwiftUI

struct Ship: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var port: String
  @MagicValue var tons: Int
  init() {
    name = ""
    port = ""
    tons = 0
  }
}

struct FleetView: View {
  @LiveQuery(Ship.ordered(by: .ascending(\.$port), .ascending(\.$name)), pageSize: 50)
  private var ships

  var body: some View {
    List {
      if let error = $ships.error { Text("\(error)") }
      ForEach($ships.sections(by: \.port)) { section in
        Section(section.key) {
          ForEach(section.elements, id: \.id) { ship in Text(ship.name) }
        }
      }
      if $ships.hasMore { ProgressView().onAppear { $ships.loadMore() } }
    }
  }
}

struct HeavyShipsView: View {
  @LiveQuery<Query<Ship>> private var ships: [Ship]

  init(heavierThan tons: Int) {
    _ships = LiveQuery(Ship.where(\.$tons > tons), id: tons)
  }

  var body: some View {
    List { ForEach(ships, id: \.id) { ship in Text(ship.name) } }
  }
}

struct CountView: View {
  @LiveQuery(Ship.all.count, initially: 0) private var count
  @LiveQuery(Ship.ordered(by: .descending(\.$tons)).first) private var heaviest

  var body: some View { Text("\(count) ships, the heaviest is \(heaviest?.name ?? "unknown")") }
}

func harbor(_ magic: MagicData) -> some View {
  FleetView().magicData(magic)
}

func preview() -> some View {
  FleetView().previewMagicData { magic in try magic.update(Ship()) }
}

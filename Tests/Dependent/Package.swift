// swift-tools-version: 6.2
import PackageDescription

// `.ci/run` sets this variable, as in the main package.
let strictness: [SwiftSetting] =
  Context.environment["MAGICDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

func program(
  _ name: String, path: String? = nil, _ dependencies: [Target.Dependency] = [],
  _ settings: [SwiftSetting] = []
) -> Target {
  .executableTarget(
    name: name,
    dependencies: [.product(name: "MagicData", package: "MagicData")] + dependencies, path: path,
    swiftSettings: strictness + [.swiftLanguageMode(.v6)] + settings)
}

/// A program with the settings of a new app in Xcode 26. Swift 6 contains the other features that
/// Xcode calls “approachable concurrency”.
func mainActorProgram(_ name: String) -> Target {
  program(
    "MainActor\(name)", path: "Sources/MainActor/\(name)", [],
    [
      .defaultIsolation(MainActor.self),
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      .enableUpcomingFeature("InferIsolatedConformances"),
      .enableUpcomingFeature("MemberImportVisibility"),
    ])
}

// A package that depends on this one, and the README's first program. `.ci/run` makes release
// builds of both, because some compiler bugs appear only there.
let package = Package(
  name: "Dependent",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The symbolic link of Benchmarks: the name of a package's folder is its identity, and with the
    // same path both packages share one release build of the library (see `.ci/release`).
    .package(path: "../../Benchmarks/MagicData")
  ],
  targets: [
    program("Dependent"),
    program("Cities"),
    // Programs that are isolated to the main actor. The sources of all but the first are symbolic
    // links.
    mainActorProgram("App"),
    mainActorProgram("Cities"),
    mainActorProgram("Notes"),
    mainActorProgram("Ledger"),
    mainActorProgram("Import"),
  ]
)

// A program that imports MagicData next to modules that declare types with the same names as other
// libraries.
let libraries = ["Combine", "Crypto", "GRDB", "SwiftData", "SwiftUI", "TabularData", "Vapor"]
package.targets += libraries.map { library in
  .target(
    name: "Like\(library)", path: "Sources/Names/Like\(library)",
    swiftSettings: strictness + [.swiftLanguageMode(.v6)])
}
package.targets.append(
  program("Names", path: "Sources/Names/App", libraries.map { .target(name: "Like\($0)") }))

// swift-tools-version: 6.2
import PackageDescription

// A user's package, and the README's first program. `.ci/run` builds them optimized, as the compiler may
// fail only then.
let package = Package(
  name: "Dependent",
  platforms: [.macOS(.v15)],
  dependencies: [
    // By a link, as in Benchmarks: a package's identity is the name of its folder.
    .package(path: "MagicData")
  ],
  targets: [
    .executableTarget(
      name: "Dependent", dependencies: [.product(name: "MagicData", package: "MagicData")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "Cities", dependencies: [.product(name: "MagicData", package: "MagicData")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)

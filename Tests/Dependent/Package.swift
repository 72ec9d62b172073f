// swift-tools-version: 6.2
import PackageDescription

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
    .executableTarget(
      name: "Dependent", dependencies: [.product(name: "MagicData", package: "MagicData")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "Cities", dependencies: [.product(name: "MagicData", package: "MagicData")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Cities",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://example.com/MagicData.git", branch: "main")
  ],
  targets: [
    .executableTarget(
      name: "Cities", dependencies: [.product(name: "MagicData", package: "MagicData")])
  ]
)

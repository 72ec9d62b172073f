// swift-tools-version: 6.2
import PackageDescription

// A program that chooses another SQLite by a trait. `.ci/sqlcipher` builds it with SQLCipher, and
// then with the trait CustomSQLite, for which the program itself provides the library.
let isCustom = Context.environment["MAGICDATA_CUSTOM_SQLITE"] != nil

let package = Package(
  name: "Encrypted",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(path: "MagicData", traits: [isCustom ? "CustomSQLite" : "SQLCipher"])
  ],
  targets: [
    .executableTarget(
      name: "Encrypted", dependencies: [.product(name: "SQLiteCore", package: "MagicData")],
      swiftSettings: [.swiftLanguageMode(.v6)],
      linkerSettings: isCustom ? [.linkedLibrary("sqlcipher")] : [])
  ]
)

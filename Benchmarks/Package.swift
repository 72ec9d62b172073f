// swift-tools-version: 6.2
import PackageDescription

// Set by `.ci/run`, as in the root package.
let strictness: [SwiftSetting] =
  Context.environment["MAGICDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
  strictness + [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The name of a package's folder is its identity. This symbolic link to `..` makes it independent of the
    // name of the clone's folder.
    .package(path: "MagicData"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .target(name: "AllocationCount"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "AllocationCount",
        .product(name: "CSQLite", package: "MagicData"),
        .product(name: "SQLiteCore", package: "MagicData"),
        .product(name: "SQLiteMapping", package: "MagicData"),
        .product(name: "SQLiteHistory", package: "MagicData"),
        .product(name: "SQLiteObjects", package: "MagicData"),
        .product(name: "MagicData", package: "MagicData"),
        .product(name: "MagicHistory", package: "MagicData"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
    // Checks what the guides say about GRDB.
    .executableTarget(
      name: "Guides",
      dependencies: [
        .product(name: "MagicData", package: "MagicData"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "PortableBenchmarks",
      dependencies: [
        .product(name: "SPON", package: "MagicData"),
        .product(name: "SQLiteCore", package: "MagicData"),
        .product(name: "SQLitePortable", package: "MagicData"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ClusterBenchmarks",
      dependencies: [
        .product(name: "SQLiteCore", package: "MagicData"),
        .product(name: "SQLiteCluster", package: "MagicData"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "SyncBenchmarks",
      dependencies: [
        .product(name: "MagicData", package: "MagicData"),
        .product(name: "MagicSync", package: "MagicData"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "TemplateBenchmarks",
      dependencies: [
        .product(name: "MagicData", package: "MagicData"),
        .product(name: "MagicTemplates", package: "MagicData"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "SyntaxBenchmarks",
      dependencies: [
        .product(name: "CSQLite", package: "MagicData"),
        .product(name: "SQLSyntax", package: "MagicData"),
      ],
      swiftSettings: settings),
  ]
)

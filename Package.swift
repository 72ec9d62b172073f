// swift-tools-version: 6.2
import PackageDescription

// `.ci/run` sets this variable. A flag on the command line would cause a second build of everything.
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

/// A library target in `Sources/NAME`, or in `Sources/GROUP/NAME`.
func layer(
  _ name: String, in group: String? = nil, _ dependencies: [Target.Dependency]
) -> Target {
  .target(
    name: name, dependencies: dependencies,
    path: group.map { "Sources/\($0)/\(name)" } ?? "Sources/\(name)", swiftSettings: settings)
}

/// A program in `Sources/GROUP/NAME`.
func program(_ name: String, in group: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/\(group)/\(name)",
    swiftSettings: settings)
}

/// The C library, which the traits of this package choose. All choices are modules named CSQLite.
let sqlite: [Target.Dependency] = [
  .target(name: "CSQLite", condition: .when(traits: ["SystemSQLite"])),
  .target(name: "CSQLCipher", condition: .when(traits: ["SQLCipher"])),
  .target(name: "CustomSQLite", condition: .when(traits: ["CustomSQLite"])),
]

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.target(name: name), "TestSupport"] + dependencies,
    swiftSettings: settings)
}

let package = Package(
  name: "MagicData",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "MagicData", targets: ["MagicData"]),
    .library(name: "SQLiteCore", targets: ["SQLiteCore"]),
    .library(name: "SQLiteMapping", targets: ["SQLiteMapping"]),
    .library(name: "SQLiteAssets", targets: ["SQLiteAssets"]),
    .library(name: "SQLiteRelations", targets: ["SQLiteRelations"]),
    .library(name: "SQLiteObjects", targets: ["SQLiteObjects"]),
    .library(name: "SQLiteHistory", targets: ["SQLiteHistory"]),
    .library(name: "MagicHistory", targets: ["MagicHistory"]),
    .library(name: "MagicSync", targets: ["MagicSync"]),
    .library(name: "MagicObservation", targets: ["MagicObservation"]),
    .library(name: "SPON", targets: ["SPON"]),
    .library(name: "SQLSyntax", targets: ["SQLSyntax"]),
    .library(name: "SQLiteSchema", targets: ["SQLiteSchema"]),
    .library(name: "SQLitePortable", targets: ["SQLitePortable"]),
    .library(name: "SQLiteCluster", targets: ["SQLiteCluster"]),
    .library(name: "MagicCluster", targets: ["MagicCluster"]),
    .library(name: "MagicTemplates", targets: ["MagicTemplates"]),
    .library(name: "MagicTesting", targets: ["MagicTesting"]),
    .library(name: "CSQLite", targets: ["CSQLite"]),
    .executable(name: "Tour", targets: ["Tour"]),
    .executable(name: "magicdata", targets: ["MagicDataTool"]),
  ],
  traits: [
    .default(enabledTraits: ["SystemSQLite"]),
    .trait(name: "SystemSQLite", description: "Links the system's SQLite (libsqlite3)."),
    .trait(name: "SQLCipher", description: "Links SQLCipher (libsqlcipher), which can encrypt."),
    .trait(
      name: "CustomSQLite",
      description: "Links no library; the program provides SQLite's functions."),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", path: "CSQLite",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // The same module for the other traits, with another library or none.
    .systemLibrary(
      name: "CSQLCipher", path: "Sources/Support/CSQLCipher", pkgConfig: "sqlcipher",
      providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
    .systemLibrary(name: "CustomSQLite", path: "Sources/Support/CustomSQLite"),
    // The platform's C library, and the part of Foundation that is used.
    .systemLibrary(name: "CPlatform", path: "Sources/Support/CPlatform"),
    // The processor's instructions for SHA-256.
    .systemLibrary(name: "CSHA256", path: "Sources/Support/CSHA256"),
    layer("Platform", in: "Support", ["CPlatform"]),
    layer("Essentials", in: "Support", []),
    // Exact text of dates, hexadecimal digits and names, without Foundation.
    layer("ExactText", in: "Support", []),
    // File system calls, which tests can replace.
    layer("SystemFiles", in: "Support", ["Platform"]),
    layer("SPON", in: "Text", ["Essentials", "ExactText", "Platform"]),
    // The tokens of SQL.
    layer("SQLLexer", in: "Text", []),
    // SQL as a tree, without a database.
    layer("SQLSyntax", in: "Text", ["SQLLexer"]),
    layer("SQLiteCore", sqlite + ["ExactText", "Platform", "SQLLexer", "SystemFiles"]),
    layer("SQLiteMapping", ["Essentials", "ExactText", "SQLiteCore"]),
    // The schema as a model, and table rebuilds. Objects don't use the parser.
    layer("SQLiteSchema", in: "Text", ["SQLSyntax", "SQLiteCore", "SQLiteMapping"]),
    layer(
      "SQLiteAssets",
      ["CSHA256", "ExactText", "Platform", "SQLiteCore", "SystemFiles"]),
    layer("SQLiteRelations", ["SQLiteCore", "SQLiteMapping"]),
    // Row changes as deltas and patches, and the journal.
    layer(
      "SQLiteHistory", in: "History", ["Essentials", "Platform", "SQLiteCore", "SQLiteMapping"]),
    layer(
      "SQLiteObjects",
      [
        "Essentials", "ExactText", "Platform", "SQLiteCore", "SQLiteMapping", "SQLiteAssets",
        "SQLiteRelations",
      ]),
    // Undo and redo, deltas and trails for objects.
    layer(
      "MagicHistory", in: "History",
      [
        "Essentials", "SQLiteAssets", "SQLiteCore", "SQLiteHistory", "SQLiteMapping",
        "SQLiteObjects", "SQLiteRelations",
      ]),
    // Equal stores on several devices, by files in a folder.
    layer(
      "MagicSync", in: "Sync",
      [
        "Essentials", "MagicHistory", "Platform", "SQLiteAssets", "SQLiteCore", "SQLiteHistory",
        "SQLiteMapping", "SQLiteObjects", "SystemFiles",
      ]),
    // Live results for views.
    layer("MagicObservation", ["SQLiteCore", "SQLiteMapping", "SQLiteObjects"]),
    layer(
      "SQLitePortable", in: "Text",
      [
        "Essentials", "ExactText", "Platform", "SPON", "SQLSyntax", "SQLiteCore", "SQLiteMapping",
        "SQLiteSchema", "SystemFiles",
      ]),
    // A database on several nodes, accessed with SQLiteCore's statements.
    layer(
      "SQLiteCluster", in: "Cluster",
      ["ExactText", "Platform", "SQLSyntax", "SQLiteCore", "SystemFiles"]),
    // Objects on a cluster.
    layer("MagicCluster", in: "Cluster", ["SQLiteCluster", "SQLiteCore", "SQLiteObjects"]),
    // Copies of stores for tests and previews, and the difference of two stores.
    layer(
      "MagicTemplates", in: "Testing",
      [
        "Essentials", "ExactText", "Platform", "SQLiteAssets", "SQLiteCore", "SQLiteMapping",
        "SQLiteObjects", "SystemFiles",
      ]),
    // A trait and an expectation for Swift Testing. No other module links Testing.
    layer("MagicTesting", in: "Testing", ["MagicTemplates", "SQLiteObjects"]),
    // Re-exports objects and all layers below them.
    layer(
      "MagicData",
      ["SQLiteCore", "SQLiteMapping", "SQLiteAssets", "SQLiteRelations", "SQLiteObjects"]),
    // Terminal output for the programs.
    .systemLibrary(name: "CTerminal", path: "Sources/Support/CTerminal"),
    layer("Terminal", in: "Support", ["CTerminal", "Platform"]),
    program(
      "Tour", in: "Examples", ["Essentials", "MagicCluster", "MagicData", "Platform", "Terminal"]),
    // The tool `magicdata`. A module `magicdata` would collide with MagicData on a case-insensitive disk.
    program(
      "MagicDataTool", in: "Tools",
      [
        "Essentials", "MagicData", "MagicSync", "Platform", "SQLSyntax", "SQLiteAssets",
        "SQLiteCluster", "SQLiteCore", "SQLiteMapping", "SQLiteObjects", "SQLitePortable",
        "Terminal",
      ]),
    // Example programs.
    program("Notes", in: "Examples", ["MagicData"]),
    program("Ledger", in: "Examples", ["MagicData"]),
    program("Import", in: "Examples", ["MagicData"]),
    program("Service", in: "Examples", ["MagicData"]),
    // Used by the tests of all layers.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
    // The engines on which the same tests run: SQLite, and dqlite nodes.
    .target(
      name: "Conformance", dependencies: ["SQLiteCluster", "SQLiteCore"], path: "Tests/Conformance",
      exclude: ["Fixture"], swiftSettings: settings),
    tests(of: "SPON", ["Fuzzing"]),
    tests(of: "SQLSyntax", ["SyntaxOracle"]),
    tests(of: "SQLiteCore", ["CExtension", "Conformance", "CoreHelper"]),
    // An SQLite extension that is linked into the tests. They also compile it as a shared library.
    .target(
      name: "CExtension", dependencies: ["CSQLite"], path: "Tests/CExtension",
      cSettings: [.define("SQLITE_CORE")]),
    .executableTarget(
      name: "CoreHelper", dependencies: ["SQLiteCore"], path: "Tests/CoreHelper",
      swiftSettings: settings),
    tests(of: "SQLiteMapping", ["Conformance", "ExactText"]),
    tests(of: "SQLiteSchema", ["Conformance", "MagicData", "SQLSyntax"]),
    tests(
      of: "SQLitePortable",
      [
        "Conformance", "MagicData", "SPON", "SQLSyntax", "SQLiteCore", "SQLiteMapping",
        "SQLiteRelations", "SystemFiles",
      ]),
    tests(of: "SQLiteAssets", ["CSHA256", "SystemFiles"]),
    .testTarget(
      name: "SQLiteClusterTests",
      dependencies: [
        "Conformance", "MagicCluster", "MagicData", "MagicDataTool", "MagicObservation",
        "SQLSyntax", "SQLiteCluster", "SQLiteHistory", "SQLitePortable", "SQLiteSchema",
        "Terminal", "TestSupport",
      ], swiftSettings: settings),
    tests(of: "SQLiteRelations", ["Conformance"]),
    tests(of: "SQLiteHistory", sqlite + ["HistoryHelper", "SQLiteCore", "SQLiteMapping"]),
    .executableTarget(
      name: "HistoryHelper",
      dependencies: ["Platform", "SQLiteCore", "SQLiteHistory", "SQLiteMapping"],
      path: "Tests/HistoryHelper", swiftSettings: settings),
    tests(
      of: "SQLiteObjects", sqlite + ["Conformance", "MagicData", "SPON", "SQLitePortable"]),
    tests(
      of: "MagicHistory",
      ["DamageHelper", "UndoHelper", "UndoWorkload", "MagicData", "SQLiteHistory"]),
    // Damages every value of the library's own tables and runs all calls that read them.
    .executableTarget(
      name: "DamageHelper",
      dependencies: ["MagicData", "MagicHistory", "MagicSync", "SQLiteHistory", "SQLitePortable"],
      path: "Tests/DamageHelper", swiftSettings: settings),
    .target(
      name: "UndoWorkload",
      dependencies: ["MagicData", "MagicHistory", "SQLiteHistory", "TestSupport"],
      path: "Tests/UndoWorkload",
      swiftSettings: settings),
    .executableTarget(
      name: "UndoHelper",
      dependencies: ["UndoWorkload", "MagicData", "MagicHistory", "SQLiteHistory"],
      path: "Tests/UndoHelper", swiftSettings: settings),
    tests(of: "MagicTesting", ["Conformance", "MagicData", "MagicHistory", "MagicTemplates"]),
    tests(of: "MagicObservation", ["MagicData"]),
    tests(
      of: "MagicSync",
      ["SyncHelper", "SyncWorkload", "MagicData", "MagicHistory", "MagicTemplates"]),
    .target(
      name: "SyncWorkload",
      dependencies: ["MagicData", "MagicSync", "MagicTemplates", "SQLiteHistory", "TestSupport"],
      path: "Tests/SyncWorkload", swiftSettings: settings),
    // Edits a store and exchanges its changes until the process is killed.
    .executableTarget(
      name: "SyncHelper", dependencies: ["SyncWorkload", "MagicData", "MagicSync"],
      path: "Tests/SyncHelper", swiftSettings: settings),
    tests(of: "Tour", ["Conformance", "MagicCluster", "MagicData", "Terminal"]),
    tests(of: "MagicDataTool", ["MagicData", "MagicSync", "Platform", "Terminal"]),
    tests(of: "Service", ["MagicData"]),
    // The programs of the guides for coming from and leaving for other libraries, with the settings of a
    // new app in Xcode.
    .testTarget(
      name: "GuidesTests",
      dependencies: [
        "MagicData", "MagicHistory", "SQLiteHistory", "SQLitePortable", "TestSupport",
      ],
      exclude: ["GRDB.sql"],
      swiftSettings: settings + [
        .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
      ]),
    // Injected faults, killed processes and hostile input for all layers. Its C code is used by tests only.
    .target(
      name: "CFaultVFS", dependencies: sqlite, path: "Tests/CFaultVFS",
      linkerSettings: [
        .linkedLibrary("sqlite3", .when(traits: ["SystemSQLite"])),
        .linkedLibrary("sqlcipher", .when(traits: ["SQLCipher"])),
      ]),
    // Kills a process before a system call that changes a file.
    .target(name: "CTracer", path: "Tests/CTracer"),
    .target(
      name: "Workload",
      dependencies: ["MagicData", "SQLSyntax", "SQLitePortable", "SQLiteSchema", "TestSupport"],
      path: "Tests/Workload",
      swiftSettings: settings),
    .executableTarget(
      name: "ReliabilityHelper", dependencies: ["Workload", "CFaultVFS", "CTracer"],
      path: "Tests/ReliabilityHelper", swiftSettings: settings),
    // Compares SQLite's verdict on an SQL text with our parser's.
    .target(
      name: "SyntaxOracle", dependencies: sqlite + ["Platform", "SQLSyntax"],
      path: "Tests/SyntaxOracle", swiftSettings: settings),
    .target(
      name: "Fuzzing",
      dependencies: [
        "Essentials", "MagicData", "SPON", "SQLSyntax", "SQLiteCluster", "SQLiteCore",
        "SQLiteHistory", "SyntaxOracle",
      ],
      path: "Tests/Fuzzing", swiftSettings: settings),
    .testTarget(
      name: "ReliabilityTests",
      dependencies: [
        "Workload", "CFaultVFS", "Fuzzing", "ReliabilityHelper", "SQLitePortable", "SystemFiles",
        "TestSupport",
      ],
      swiftSettings: settings),
    // The code of the README and of all articles, with the settings of a new app in Xcode. The
    // sources are symbolic links. The other targets with these settings compile the rest:
    // GuidesTests (the guides for other libraries), the programs of Tests/Dependent (the README's
    // program, “In apps” and the examples), `.ci/checks/swiftui` (the views) and
    // `.ci/checks/main-actor` (Tour). Only Service doesn't: a server isn't isolated to the main actor.
    .testTarget(
      name: "MainActorTests",
      dependencies: [
        "Conformance", "MagicCluster", "MagicData", "MagicHistory", "MagicObservation", "MagicSync",
        "MagicTesting", "SPON", "SQLSyntax", "SQLiteCore", "SQLiteHistory", "SQLiteMapping",
        "SQLitePortable", "SQLiteSchema", "TestSupport",
      ],
      swiftSettings: settings + [
        .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
      ]),
  ]
)

// Builds the tests of some layers only, in a fraction of the time: MAGICDATA_TESTS=SQLiteCore swift test
if let layers = Context.environment["MAGICDATA_TESTS"]?.split(separator: ",") {
  package.targets.removeAll { target in
    target.type == .test && !layers.contains { target.name == "\($0)Tests" }
  }
}

// libFuzzer programs for `.ci/fuzz`. libFuzzer provides their main function.
if Context.environment["MAGICDATA_FUZZ"] != nil {
  let fuzzers = [
    "Database", "Quoting", "JSON", "Assets", "SPON", "Syntax", "Patches", "Wire",
  ]
  package.targets += fuzzers.map { name in
    .executableTarget(
      name: "Fuzz\(name)", dependencies: ["Fuzzing"], path: "Tests/Fuzz\(name)",
      swiftSettings: settings)
  }
}

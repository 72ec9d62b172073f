// `import MagicData` also imports objects and the modules that they are built on.
@_exported public import SQLiteAssets
@_exported public import SQLiteCore
@_exported public import SQLiteMapping
@_exported public import SQLiteObjects
@_exported public import SQLiteRelations

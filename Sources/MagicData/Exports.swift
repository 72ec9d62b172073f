// Users import MagicData and have the layers below.
@_exported public import SPON
@_exported public import SQLiteAssets
@_exported public import SQLiteCore
@_exported public import SQLiteMapping
@_exported public import SQLitePortable
@_exported public import SQLiteRelations

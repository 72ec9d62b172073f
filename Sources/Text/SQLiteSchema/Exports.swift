// Importing SQLiteSchema also imports the model of the schema.
@_exported public import SQLSyntax

// Who imports the schema as a model has the model.
@_exported public import SQLSyntax

import LikeCrypto
import LikeSwiftUI
import MagicData

// No public name of MagicData is also one of SwiftUI, Charts or CryptoKit, so a file can use both without
// qualification.

struct Note: MagicObject {
  @MagicValue var text: String

  init() {}
}

struct Screen: View {
  let parts: [Any] = [
    Link(), Table(), TableColumn(), TableRow(), Section(), Group(), List(), Label(), Text(), Path(),
    Transaction(), FetchRequest(), FetchedResults(), Settings(), Environment(), State(), Binding(),
    Namespace(), Plot(), SHA256(), SHA512(), SymmetricKey(),
  ]
}

let plainTypes: [Any.Type] = [
  Authorization.self, AuthorizationDecision.self, BackupProgress.self, Blob.self,
  Capabilities.self, Change.self, ChangeAuthor.self, CheckpointMode.self, CheckpointResult.self,
  Column.self, ColumnDefinition.self, ColumnType.self, Connection.self, ConnectionLimit.self,
  Database.self, DeleteRule.self, ForeignKey.self, GroupCommit.self, IndexDefinition.self,
  QueryPlan.self, ResultCode.self, Row.self, SQL.self, SQLiteError.self, SchemaColumn.self,
  TableDefinition.self, TableIndex.self, TraceEvent.self, TransactionKind.self,
  TransactionOutcome.self, Value.self, DataStrategy.self, DateStrategy.self,
  DurationStrategy.self, KeyStrategy.self, MappingStrategies.self, Migration.self,
  NestedStrategy.self, Ordering.self, PrimaryKeyType.self, PropertyTrait.self,
  RowDecodingError.self, SchemaDifference.self, SchemaError.self, SearchMarks.self,
  SearchPattern.self, UUIDStrategy.self, AssetBackup.self, AssetDigest.self, AssetError.self,
  AssetID.self, AssetProgress.self, AssetReader.self, AssetRecord.self, AssetStore.self,
  StagedAsset.self, SweepReport.self, UpkeepPlan.self, StoredLink.self, MagicError.self,
  PagePosition<Note>.self, Query<Note>.self, Request<Int>.self, Filter<Note>.self,
  SortKey<Note>.self,
  Assignment<Note>.self, (any Record).self, (any Bindable).self,
]

/// All cases, in the order of the table.
let allCases: [any Case] =
  [
    Scan(), Fetch(), Point(), Call(), Insert(), Update(), UpdateNumber<Unsearched>(),
    UpdateNumber<Searched>(), Upsert(), Delete(), DurableInsert(),
    JSON(), Blob(), Asset(), AssetSmall(), AssetsInOne(), Open(), Async(), AsyncRead(), Cache(),
    Stream(), Selection(), Page(),
  ] + relationCases + songCases + Readers.all + Callers.all + Growth.all + CommitEach.all
  + GroupCommits.all + ObservedInsert.all + Undo.all

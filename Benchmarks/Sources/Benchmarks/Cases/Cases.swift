/// The cases, in the order of the table.
let allCases: [any Case] =
  [
    Scan(), Fetch(), Point(), Call(), Insert(), Update(), Upsert(), Delete(), DurableInsert(),
    JSON(), Blob(), Open(), Async(), Cache(), Stream(), Selection(),
  ] + Readers.all + Growth.all + [GroupCommits()]

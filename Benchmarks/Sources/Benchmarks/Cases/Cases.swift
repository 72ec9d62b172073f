/// The cases, in the order of the table.
let allCases: [any Case] =
  [Scan(), Fetch(), FetchDirect(), Point(), Call(), Insert(), InsertDirect(), Cache(), Asset()]
  + relationCases

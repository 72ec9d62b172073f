/// The cases, in the order of the table.
let allCases: [any Case] =
  [Scan(), Fetch(), Point(), Call(), Insert(), Cache(), Asset()] + relationCases

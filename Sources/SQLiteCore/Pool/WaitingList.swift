/// The accesses that wait, in the order in which they asked.
///
/// They stand in lanes: only those of one lane wait for the same slots. Joining and being next take O(1), giving
/// up O(log n), shared out over the accesses. Looking for deadlines takes O(n): a timer asks for them.
struct WaitingList<Element: Sendable>: Sendable {
  private struct Place: Sendable {
    let number: UInt64
    let deadline: Moment?
    /// Nil once it has left from the middle.
    var element: Element?
  }

  private struct Lane: Sendable {
    /// Their numbers ascend.
    var places: [Place] = []
    /// The index of the first one that has not left.
    var start = 0
    /// How many have not left.
    var count = 0
  }

  private var lanes: [Lane]
  private var lastNumber: UInt64 = 0

  init(lanes: Int) {
    self.lanes = Array(repeating: Lane(), count: lanes)
  }

  /// How many wait.
  var count: Int { lanes.reduce(0) { $0 + $1.count } }

  /// How many of them have a deadline.
  var deadlineCount: Int { deadlines.count }

  /// The deadline that passes next.
  var nextDeadline: Moment? { deadlines.lazy.map(\.deadline).min() }

  private var deadlines: [(deadline: Moment, number: UInt64)] {
    lanes.lazy.flatMap(\.places).compactMap { place in
      place.element == nil ? nil : place.deadline.map { ($0, place.number) }
    }
  }

  /// Returns whether nobody waits in a lane.
  func isEmpty(_ lane: Int) -> Bool { lanes[lane].count == 0 }

  /// Joins the end of a lane, and returns the number by which to give up.
  mutating func append(
    _ element: Element, to lane: Int, deadline: Moment?
  ) -> UInt64 {
    lastNumber += 1
    lanes[lane].places.append(Place(number: lastNumber, deadline: deadline, element: element))
    lanes[lane].count += 1
    return lastNumber
  }

  /// The first one in a lane.
  func first(in lane: Int) -> Element? {
    isEmpty(lane) ? nil : lanes[lane].places[lanes[lane].start].element
  }

  /// Takes the first one out of a lane.
  mutating func removeFirst(in lane: Int) -> Element? {
    isEmpty(lane) ? nil : take(lanes[lane].start, in: lane)
  }

  /// Takes one out, unless it has left already.
  mutating func remove(_ number: UInt64) -> Element? {
    for lane in lanes.indices {
      guard let index = index(of: number, in: lane) else { continue }
      return take(index, in: lane)
    }
    return nil
  }

  /// Takes out those whose deadlines have passed, the earliest deadline first.
  mutating func removeLate(_ now: Moment) -> [Element] {
    deadlines.filter { $0.deadline <= now }.compactMap { remove($0.number) }
  }

  /// Takes out all, in order.
  mutating func removeAll() -> [Element] {
    let all = lanes.flatMap(\.places).sorted { $0.number < $1.number }.compactMap(\.element)
    let numbers = lastNumber
    self = WaitingList(lanes: lanes.count)
    lastNumber = numbers
    return all
  }

  /// The index of the place with a number, if that has not left.
  private func index(of number: UInt64, in lane: Int) -> Int? {
    let places = lanes[lane].places
    var (low, high) = (lanes[lane].start, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].number < number { low = middle + 1 } else { high = middle }
    }
    guard low < places.count, places[low].number == number, places[low].element != nil else {
      return nil
    }
    return low
  }

  private mutating func take(_ index: Int, in lane: Int) -> Element? {
    let element = lanes[lane].places[index].element
    lanes[lane].places[index].element = nil
    lanes[lane].count -= 1
    tidy(lane)
    return element
  }

  /// Moves the start of a lane to one that has not left, and drops the places of those that have, once they
  /// are more than half.
  private mutating func tidy(_ lane: Int) {
    guard lanes[lane].count > 0 else {
      // The memory of a long queue is given back.
      lanes[lane].places.removeAll(keepingCapacity: lanes[lane].places.capacity <= 1_024)
      lanes[lane].start = 0
      return
    }
    while lanes[lane].places[lanes[lane].start].element == nil { lanes[lane].start += 1 }
    guard lanes[lane].places.count > 2 * lanes[lane].count + 32 else { return }
    lanes[lane].places = lanes[lane].places[lanes[lane].start...].filter { $0.element != nil }
    lanes[lane].start = 0
  }
}

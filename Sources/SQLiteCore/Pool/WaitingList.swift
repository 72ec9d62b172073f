/// The waiting accesses, in the order of their arrival.
///
/// Each access waits in a lane. The accesses of one lane wait for the same slots. Appending and
/// removing the first element take amortized O(1); removing another one takes amortized O(log *n*).
/// Finding the elements with deadlines takes O(*n*), but only a timer does so.
struct WaitingList<Element: Sendable>: Sendable {
  private struct Place: Sendable {
    let number: UInt64
    let deadline: Moment?
    /// The waiting element, or nil after its removal.
    var element: Element?
  }

  private struct Lane: Sendable {
    /// The places, in ascending order of their numbers.
    var places: [Place] = []
    /// The index of the first place that has an element.
    var start = 0
    /// The number of elements in the lane.
    var count = 0
  }

  private var lanes: [Lane]
  private var lastNumber: UInt64 = 0

  init(lanes: Int) {
    self.lanes = Array(repeating: Lane(), count: lanes)
  }

  /// The number of elements in all lanes.
  var count: Int { lanes.reduce(0) { $0 + $1.count } }

  /// The number of elements that have a deadline.
  var deadlineCount: Int { deadlines.count }

  /// The earliest deadline of an element, or nil if no element has a deadline.
  var nextDeadline: Moment? { deadlines.lazy.map(\.deadline).min() }

  private var deadlines: [(deadline: Moment, number: UInt64)] {
    lanes.lazy.flatMap(\.places).compactMap { place in
      place.element == nil ? nil : place.deadline.map { ($0, place.number) }
    }
  }

  /// Returns whether a lane has no elements.
  func isEmpty(_ lane: Int) -> Bool { lanes[lane].count == 0 }

  /// Appends an element to a lane and returns its number, with which it can be removed.
  mutating func append(
    _ element: Element, to lane: Int, deadline: Moment?
  ) -> UInt64 {
    lastNumber += 1
    lanes[lane].places.append(Place(number: lastNumber, deadline: deadline, element: element))
    lanes[lane].count += 1
    return lastNumber
  }

  /// Returns the first element of a lane, or nil if the lane is empty.
  func first(in lane: Int) -> Element? {
    isEmpty(lane) ? nil : lanes[lane].places[lanes[lane].start].element
  }

  /// Removes and returns the first element of a lane, or returns nil if the lane is empty.
  mutating func removeFirst(in lane: Int) -> Element? {
    isEmpty(lane) ? nil : take(lanes[lane].start, in: lane)
  }

  /// Removes and returns the element with a number. Returns nil if it has already been removed.
  mutating func remove(_ number: UInt64) -> Element? {
    for lane in lanes.indices {
      guard let index = index(of: number, in: lane) else { continue }
      return take(index, in: lane)
    }
    return nil
  }

  /// Removes and returns the elements with a deadline at or before `now`.
  mutating func removeExpired(_ now: Moment) -> [Element] {
    deadlines.filter { $0.deadline <= now }.compactMap { remove($0.number) }
  }

  /// Removes all elements and returns them in the order of their arrival.
  mutating func removeAll() -> [Element] {
    let all = lanes.flatMap(\.places).sorted { $0.number < $1.number }.compactMap(\.element)
    let numbers = lastNumber
    self = WaitingList(lanes: lanes.count)
    lastNumber = numbers
    return all
  }

  /// Returns the index of the place with a number, or nil if it isn't in the lane or its element
  /// has been removed.
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
    compact(lane)
    return element
  }

  /// Moves the start of a lane to its first element, and removes the empty places if they are the
  /// majority.
  private mutating func compact(_ lane: Int) {
    guard lanes[lane].count > 0 else {
      // Frees the memory of a queue that has been long.
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

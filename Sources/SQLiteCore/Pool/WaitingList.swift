/// The accesses that wait, in the order in which they asked.
///
/// They stand in lanes: only those of one lane wait for the same slots. Joining, being next and giving
/// up take O(1), with a deadline O(log n), shared out over the accesses.
struct WaitingList<Element: Sendable>: Sendable {
  /// The numbers of the accesses in one lane, in ascending order.
  private struct Lane: Sendable {
    /// Some of them may have left from the middle.
    var numbers: [UInt64] = []
    /// The index of the first one that has not left.
    var start = 0
    /// How many have not left.
    var count = 0
  }

  private var elements: [UInt64: (element: Element, lane: Int)] = [:]
  private var lanes: [Lane]
  private var deadlines = DeadlineHeap()
  private var lastNumber: UInt64 = 0

  init(lanes: Int) {
    self.lanes = Array(repeating: Lane(), count: lanes)
  }

  /// How many wait.
  var count: Int { elements.count }

  /// How many of them have a deadline.
  var deadlineCount: Int { deadlines.count }

  /// The deadline that passes next.
  var nextDeadline: Moment? { deadlines.first?.deadline }

  /// Returns whether nobody waits in a lane.
  func isEmpty(_ lane: Int) -> Bool { lanes[lane].count == 0 }

  /// Joins the end of a lane, and returns the number by which to give up.
  mutating func append(
    _ element: Element, to lane: Int, deadline: Moment?
  ) -> UInt64 {
    lastNumber += 1
    elements[lastNumber] = (element, lane)
    lanes[lane].numbers.append(lastNumber)
    lanes[lane].count += 1
    if let deadline { deadlines.insert(lastNumber, deadline) }
    return lastNumber
  }

  /// The first one in a lane.
  func first(in lane: Int) -> Element? {
    guard !isEmpty(lane) else { return nil }
    return elements[lanes[lane].numbers[lanes[lane].start]]?.element
  }

  /// Takes the first one out of a lane.
  mutating func removeFirst(in lane: Int) -> Element? {
    guard !isEmpty(lane) else { return nil }
    return remove(lanes[lane].numbers[lanes[lane].start])
  }

  /// Takes one out, unless it has left already.
  mutating func remove(_ number: UInt64) -> Element? {
    guard let (element, lane) = elements.removeValue(forKey: number) else { return nil }
    deadlines.remove(number)
    lanes[lane].count -= 1
    tidy(lane)
    return element
  }

  /// Takes out those whose deadlines have passed, the earliest deadline first.
  mutating func removeLate(_ now: Moment) -> [Element] {
    var late: [Element] = []
    while let (deadline, number) = deadlines.first, deadline <= now, let element = remove(number) {
      late.append(element)
    }
    return late
  }

  /// Takes out all, in order.
  mutating func removeAll() -> [Element] {
    let all = elements.sorted { $0.key < $1.key }.map(\.value.element)
    let numbers = lastNumber
    self = WaitingList(lanes: lanes.count)
    lastNumber = numbers
    return all
  }

  /// Moves the start of a lane to one that has not left, and drops the numbers of those that have, once
  /// they are more than half.
  private mutating func tidy(_ lane: Int) {
    guard lanes[lane].count > 0 else {
      lanes[lane] = Lane()
      // Gives back the memory of a long queue.
      if elements.isEmpty, elements.capacity > 1_024 { elements = [:] }
      return
    }
    while elements[lanes[lane].numbers[lanes[lane].start]] == nil { lanes[lane].start += 1 }
    guard lanes[lane].numbers.count > 2 * lanes[lane].count + 32 else { return }
    let present = lanes[lane].numbers[lanes[lane].start...].filter { elements[$0] != nil }
    lanes[lane] = Lane(numbers: present, start: 0, count: present.count)
  }
}

/// The deadlines of those who wait, the earliest first; any of them can be taken out.
private struct DeadlineHeap: Sendable {
  private var entries: [(deadline: Moment, number: UInt64)] = []
  /// Where each number stands.
  private var indexes: [UInt64: Int] = [:]

  var count: Int { entries.count }

  var first: (deadline: Moment, number: UInt64)? { entries.first }

  mutating func insert(_ number: UInt64, _ deadline: Moment) {
    entries.append((deadline, number))
    indexes[number] = entries.count - 1
    rise(entries.count - 1)
  }

  mutating func remove(_ number: UInt64) {
    guard let index = indexes.removeValue(forKey: number) else { return }
    let last = entries.removeLast()
    guard index < entries.count else {
      if entries.isEmpty, entries.capacity > 1_024 { self = DeadlineHeap() }
      return
    }
    put(last, at: index)
    rise(index)
    sink(index)
  }

  private mutating func rise(_ index: Int) {
    var index = index
    while index > 0, entries[index].deadline < entries[(index - 1) / 2].deadline {
      swap(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink(_ index: Int) {
    var index = index
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && entries[child].deadline < entries[least].deadline {
        least = child
      }
      guard least != index else { return }
      swap(index, least)
      index = least
    }
  }

  private mutating func swap(_ first: Int, _ second: Int) {
    let entry = entries[first]
    put(entries[second], at: first)
    put(entry, at: second)
  }

  private mutating func put(
    _ entry: (deadline: Moment, number: UInt64), at index: Int
  ) {
    entries[index] = entry
    indexes[entry.number] = index
  }
}

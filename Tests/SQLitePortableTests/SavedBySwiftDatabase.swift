import Foundation

/// The content of a file of SwiftDatabase, one of the libraries that MagicData replaces.
enum SavedBySwiftDatabase {
  struct Person: Codable, Equatable {
    var id: Int
    var name: String
  }

  /// The data that SwiftDatabase saved with default coders.
  static let data = Data(
    """
    {"Person":{"typeDescription":"Array<Person>","data":"W3siaWQiOjEsIm5hbWUiOiJBbm4ifV0="}}
    """.utf8)
}

import ExactText
package import Essentials
import SQLiteCore

/// JSON as columns hold it: sorted keys, and dates as text of an exact round trip.
package enum NestedJSON {
  /// A new encoder.
  package static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(of: date))
    }
    return encoder
  }

  /// A decoder that stands at the top of `json`.
  static func decoder(of json: Data) throws -> any Decoder {
    try decoder().decode(Passthrough.self, from: json).decoder
  }

  /// A new decoder.
  package static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      try DateText.date(from: decoder.singleValueContainer().decode(String.self))
    }
    return decoder
  }
}

/// Captures the decoder that it is decoded by, so that another value can be read from it.
struct Passthrough: Decodable {
  let decoder: any Decoder

  init(from decoder: any Decoder) throws {
    self.decoder = decoder
  }
}

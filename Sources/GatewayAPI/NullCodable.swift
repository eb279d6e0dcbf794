/// A value encoded as JSON `null` if nil, instead of being omitted. A missing key, as from an older version, decodes as
/// nil.
@propertyWrapper
package struct NullCodable<Value> {
    package var wrappedValue: Value?

    package init() {}
    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension NullCodable: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension NullCodable: Decodable where Value: Decodable {
    package init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value?.self)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a missing key as nil. Called by synthesised decoding.
    package func decode<Value: Decodable>(
        _ type: NullCodable<Value>.Type, forKey key: Key
    ) throws -> NullCodable<Value> {
        NullCodable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

extension NullCodable: Equatable where Value: Equatable {}
extension NullCodable: Hashable where Value: Hashable {}
extension NullCodable: Sendable where Value: Sendable {}

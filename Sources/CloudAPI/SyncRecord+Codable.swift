package import Domain

// Record in its wire form, which is also the stored form:
//
// {"type":…,"name":…,"properties":{p:{"value":…,"stamp":…,"broughtBy":…?}},
// "deleted":{"stamp":…,"broughtBy":…?,"mergedInto":…?}?}
//
// A value names its kind, because JSON does not distinguish 1 from 1.0: null, {"bool":…}, {"int":…}, {"double":…},
// {"string":…}.

extension SyncRecord: Codable {
    private enum CodingKeys: String, CodingKey { case type, name, properties, deleted }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = RecordType(rawValue: try container.decode(String.self, forKey: .type))
        self.init(
            key: RecordKey(type: type, name: try container.decode(String.self, forKey: .name)),
            properties: try container.decodeIfPresent([String: Register].self, forKey: .properties) ?? [:],
            deletion: try container.decodeIfPresent(Deletion.self, forKey: .deleted))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key.type.rawValue, forKey: .type)
        try container.encode(key.name, forKey: .name)
        try container.encode(properties, forKey: .properties)
        try container.encodeIfPresent(deletion, forKey: .deleted)
    }
}

extension Register: Codable {
    private enum CodingKeys: String, CodingKey { case value, stamp, broughtBy }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            value: try container.decode(SettingValue.self, forKey: .value),
            stamp: try container.decode(Stamp.self, forKey: .stamp),
            broughtBy: try container.decodeHost(forKey: .broughtBy))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(stamp, forKey: .stamp)
        try container.encodeIfPresent(broughtBy?.description, forKey: .broughtBy)
    }
}

extension Deletion: Codable {
    private enum CodingKeys: String, CodingKey { case stamp, mergedInto, broughtBy }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            stamp: try container.decode(Stamp.self, forKey: .stamp),
            mergedInto: try container.decodeIfPresent(String.self, forKey: .mergedInto),
            broughtBy: try container.decodeHost(forKey: .broughtBy))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(stamp, forKey: .stamp)
        try container.encodeIfPresent(broughtBy?.description, forKey: .broughtBy)
        try container.encodeIfPresent(mergedInto, forKey: .mergedInto)
    }
}

extension KeyedDecodingContainer {
    fileprivate func decodeHost(forKey key: Key) throws -> HostID? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let host = HostID(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\"\(text)\" is not a host id; one is a UUID")
        }
        return host
    }
}

extension Stamp: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let stamp = Stamp(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not a stamp; one is <milliseconds>.<counter>.<host>")
        }
        self = stamp
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension SettingValue: Codable {
    private enum CodingKeys: String, CodingKey { case bool, int, double, string }

    package init(from decoder: any Decoder) throws {
        if try decoder.singleValueContainer().decodeNil() {
            self = .null
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch container.allKeys.first {
        case .bool: self = .bool(try container.decode(Bool.self, forKey: .bool))
        case .int: self = .int(try container.decode(Int64.self, forKey: .int))
        case .double: self = .double(try container.decode(Double.self, forKey: .double))
        case .string: self = .string(try container.decode(String.self, forKey: .string))
        case nil:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "a value is null or has one of the keys bool, int, double and string"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if self == .null {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
            return
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .null: break
        case .bool(let value): try container.encode(value, forKey: .bool)
        case .int(let value): try container.encode(value, forKey: .int)
        case .double(let value): try container.encode(value, forKey: .double)
        case .string(let value): try container.encode(value, forKey: .string)
        }
    }
}

import Domain

extension ChangeToken: CustomStringConvertible {
    package var description: String {
        let key = key.map { Hex.encode(Array($0.utf8)) }
        guard let origin else {
            let tail = floor.map { ".\(key ?? "").\($0)" } ?? key.map { "." + $0 }
            return "v1.\(epoch).\(sequence)" + (tail ?? "")
        }
        let mark = "\(origin.mark).\(String(origin.markID, radix: 16)).\(origin.readAt)"
        return "v2.\(origin.zone).\(epoch).\(mark).\(sequence).\(key ?? "").\(floor.map(String.init) ?? "")"
    }

    /// Decodes the form of `description`; nil for anything else, which the cloud reports as a bad request.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "." as Character, omittingEmptySubsequences: false)
        switch parts.first {
        case "v1": self.init(first: parts.dropFirst())
        case "v2": self.init(second: Array(parts.dropFirst()))
        default: return nil
        }
    }

    /// Decodes `<epoch>.<sequence>[.<key>[.<floor>]]`, where an empty key must be followed by a floor.
    private init?(first rest: ArraySlice<some StringProtocol>) {
        let parts = Array(rest)
        guard (2...4).contains(parts.count), !parts[0].isEmpty, let sequence = UInt64(parts[1]) else { return nil }
        self.init(epoch: String(parts[0]), sequence: sequence)
        if parts.count == 4 {
            guard let floor = UInt64(parts[3]) else { return nil }
            self.floor = floor
        }
        guard parts.count > 2, !(parts.count == 4 && parts[2].isEmpty) else { return }
        guard let key = Self.key(parts[2]) else { return nil }
        self.key = key
    }

    private init?(second parts: [some StringProtocol]) {
        guard parts.count == 8, !parts[0].isEmpty, !parts[1].isEmpty, let mark = UInt64(parts[2]),
            let markID = UInt64(parts[3], radix: 16), let readAt = UInt64(parts[4]), let sequence = UInt64(parts[5])
        else { return nil }
        let origin = Origin(zone: String(parts[0]), mark: mark, markID: markID, readAt: readAt)
        self.init(epoch: String(parts[1]), sequence: sequence, origin: origin)
        if !parts[6].isEmpty {
            guard let key = Self.key(parts[6]) else { return nil }
            self.key = key
        }
        if !parts[7].isEmpty {
            guard let floor = UInt64(parts[7]) else { return nil }
            self.floor = floor
        }
    }

    private static func key(_ digits: some StringProtocol) -> String? {
        Hex.decode(digits).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

import MeterModel

extension ChangeToken: CustomStringConvertible {
    package var description: String {
        let key = key.map { Hex.encode(Array($0.utf8)) }
        let tail = floor.map { ".\(key ?? "").\($0)" } ?? key.map { "." + $0 }
        return "v1.\(epoch).\(sequence)" + (tail ?? "")
    }

    /// Reads what `description` prints; nil for anything else, which the cloud calls a bad request.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "." as Character, omittingEmptySubsequences: false)
        guard (3...5).contains(parts.count), parts[0] == "v1", !parts[1].isEmpty, let sequence = UInt64(parts[2]) else {
            return nil
        }
        self.init(epoch: String(parts[1]), sequence: sequence)
        if parts.count == 5 {
            guard let floor = UInt64(parts[4]) else { return nil }
            self.floor = floor
        }
        guard parts.count > 3, !(parts.count == 5 && parts[3].isEmpty) else { return }
        guard let bytes = Hex.decode(parts[3]), let key = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        self.key = key
    }
}

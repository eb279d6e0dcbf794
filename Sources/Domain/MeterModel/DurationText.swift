extension Duration {
    /// Parses `500ms`, `2s`, `1.5s`, `3m`, `1h`; a bare number is seconds. Nil for anything else.
    package init?(shortText text: some StringProtocol) {
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1)]
        let lowered = text.lowercased()
        guard let unit = units.first(where: { lowered.hasSuffix($0.suffix) }) else { return nil }
        let digits = lowered.dropLast(unit.suffix.count)
        let isPlain = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == .point }
        guard isPlain, let number = Double(digits) else { return nil }
        let milliseconds = (number * unit.seconds * 1000).rounded()
        guard milliseconds < 1e15 else { return nil }
        self = .milliseconds(Int64(milliseconds))
    }

    /// Shortest form that `init(shortText:)` accepts: `1h`, `90s`, `1500ms`.
    package var shortText: String {
        let milliseconds = self.milliseconds
        // No loop over a table of units: the compiler orders its unrolled steps in one of two ways, so that two builds
        // of one commit differed (Tests/Package/rebuilt).
        if milliseconds == 0 || !milliseconds.isMultiple(of: 1000) { return "\(milliseconds)ms" }
        if milliseconds.isMultiple(of: 3_600_000) { return "\(milliseconds / 3_600_000)h" }
        if milliseconds.isMultiple(of: 60_000) { return "\(milliseconds / 60_000)m" }
        return "\(milliseconds / 1000)s"
    }
}

extension UInt8 {
    fileprivate static let point = UInt8(ascii: ".")
}

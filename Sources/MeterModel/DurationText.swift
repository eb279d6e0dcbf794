extension Duration {
    /// Reads `500ms`, `2s`, `1.5s`, `3m`, `1h`; a bare number is seconds. nil for anything else or a negative time.
    package init?(shortText text: some StringProtocol) {
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1)]
        let lowered = text.lowercased()
        guard let unit = units.first(where: { lowered.hasSuffix($0.suffix) }) else { return nil }
        guard let number = Double(lowered.dropLast(unit.suffix.count)), number.isFinite, number >= 0 else { return nil }
        let milliseconds = (number * unit.seconds * 1000).rounded()
        guard milliseconds < 1e15 else { return nil }
        self = .milliseconds(Int64(milliseconds))
    }
}

extension Double {
    /// Returns the number with a fixed number of decimals, 0 to 6, as devices print it; clamped to 1e12.
    func text(decimals: Int) -> String {
        let power = (0..<decimals).reduce(Int64(1)) { power, _ in power * 10 }
        let scaled = Int64((Swift.min(Swift.max(self, -1e12), 1e12) * Double(power)).rounded())
        guard decimals > 0 else { return "\(scaled)" }
        let fraction = String(scaled.magnitude % UInt64(power))
        let zeros = String(repeating: "0", count: decimals - fraction.count)
        return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / UInt64(power)).\(zeros)\(fraction)"
    }
}

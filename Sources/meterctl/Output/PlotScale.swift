struct PlotScale {
    let low: Double
    let high: Double
    let ticks: [Double]
    private let digits: Int

    /// `least` and `greatest` are the extreme values drawn, and may be equal.
    init(from least: Double, to greatest: Double) {
        let (least, greatest) = least.isFinite && greatest.isFinite ? (least, greatest) : (0, 1)
        // Do not stretch a nearly flat line to the full height.
        let spread = max(greatest - least, max(least.magnitude, greatest.magnitude) * 0.02, 0.001)
        let middle = (least + greatest) / 2
        let step = Self.step(for: spread / 4)
        let first = ((middle - spread / 2) / step.size).rounded(.down)
        let last = max(((middle + spread / 2) / step.size).rounded(.up), first + 1)
        low = first * step.size
        high = last * step.size
        digits = step.digits
        ticks = (0...Int(min(last - first, 20))).map { (first + Double($0)) * step.size }
    }

    func label(_ tick: Double) -> String { Formatting.decimal(tick, digits: digits) }

    /// Returns the smallest step of 1, 2 or 5 times a power of ten that is at least `least`, and its number of
    /// decimals.
    private static func step(for least: Double) -> (size: Double, digits: Int) {
        var (power, digits) = (1e-4, 4)
        while power * 10 <= least, power < 1e12 {
            power *= 10
            digits -= 1
        }
        let size = [1.0, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? least
        return (size, max(0, size >= power * 10 ? digits - 1 : digits))
    }
}

struct PlotAxis {
    let lengthInSeconds: Double
    let unit: String
    /// Positions of the ticks in seconds.
    let ticks: [Double]
    private let unitLength: Double

    private static let steps: [(step: Double, unit: String, unitLength: Double)] = [
        (0.1, "s", 1), (0.2, "s", 1), (0.5, "s", 1), (1, "s", 1), (2, "s", 1), (5, "s", 1), (10, "s", 1), (15, "s", 1),
        (30, "s", 1), (60, "min", 60), (120, "min", 60), (300, "min", 60), (600, "min", 60), (900, "min", 60),
        (1800, "min", 60), (3600, "h", 3600), (7200, "h", 3600), (14_400, "h", 3600), (21_600, "h", 3600),
        (43_200, "h", 3600), (86_400, "d", 86_400), (172_800, "d", 86_400), (432_000, "d", 86_400),
        (864_000, "d", 86_400),
    ]

    init(lengthInSeconds: Double) {
        self.lengthInSeconds = lengthInSeconds
        let longest = (step: max(864_000, (lengthInSeconds / 10).rounded(.up)), unit: "d", unitLength: 86_400.0)
        let chosen = Self.steps.first { lengthInSeconds / $0.step <= 10 } ?? longest
        unit = chosen.unit
        unitLength = chosen.unitLength
        ticks = (0...Int(min(lengthInSeconds / chosen.step, 10))).map { Double($0) * chosen.step }
    }

    func label(_ second: Double) -> String {
        let number = second / unitLength
        return Formatting.decimal(number, digits: number == number.rounded() ? 0 : 1)
    }
}

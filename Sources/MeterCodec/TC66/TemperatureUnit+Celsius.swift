package import Domain

extension TemperatureUnit {
    /// Converts a value in this unit to degrees Celsius; from Fahrenheit rounded to tenths.
    package func celsius(_ value: Double) -> Double {
        switch self {
        case .celsius: value
        case .fahrenheit: ((value - 32) * 50 / 9).rounded() / 10
        }
    }
}

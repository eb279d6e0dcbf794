/// Unit set in the meter's menu.
package enum TemperatureUnit: String, Sendable {
    case celsius = "C"
    case fahrenheit = "F"
}

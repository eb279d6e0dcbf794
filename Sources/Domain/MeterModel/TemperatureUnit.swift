/// The unit set in a meter's own menu.
package enum TemperatureUnit: String, Sendable {
    case celsius = "C"
    case fahrenheit = "F"
}

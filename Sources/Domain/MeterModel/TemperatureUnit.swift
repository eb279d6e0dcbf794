/// The unit that a meter's own menu is set to.
package enum TemperatureUnit: String, Sendable {
    case celsius = "C"
    case fahrenheit = "F"
}

import HomeAutomation
import HomeAutomationCore
import MeterModel
import TOMLKit

extension ConfigurationFile {
    /// Reads `[mqtt]`.
    func applyMQTT(_ mqtt: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        try checkKeys(of: mqtt, in: "mqtt")
        var result = configuration.mqtt
        if let text = try string("url", in: mqtt, "mqtt.") {
            do throws(HomeAutomationError) {
                result.address = try BrokerAddress(text)
            } catch {
                throw ConfigurationError("\(path): mqtt.url: \(error.message)", next: error.next)
            }
        }
        result.credentialsPath = try file("credentials-file", in: mqtt, "mqtt.") ?? result.credentialsPath
        result.certificatePath = try file("ca-file", in: mqtt, "mqtt.") ?? result.certificatePath
        result.discoveryPrefix = try topic("discovery-prefix", in: mqtt) ?? result.discoveryPrefix
        result.baseTopic = try topic("base-topic", in: mqtt) ?? result.baseTopic
        result.interval =
            try time("interval", in: mqtt, "mqtt.", legal: .seconds(1)...(.seconds(3600))) ?? result.interval
        try check(result)
        configuration.mqtt = result
    }

    private func topic(_ key: String, in mqtt: TOMLTable) throws(ConfigurationError) -> String? {
        guard let text = try string(key, in: mqtt, "mqtt.") else { return nil }
        guard BrokerTopics.isPrefix(text) else {
            throw ConfigurationError(
                "\(path): mqtt.\(key) cannot be \"\(text)\"",
                next: "it takes levels of letters, digits, \".\", \"-\" and \"_\", with \"/\" between them")
        }
        return text
    }

    /// Checks the keys that depend on each other.
    private func check(_ mqtt: Configuration.MQTT) throws(ConfigurationError) {
        guard let address = mqtt.address else {
            throw ConfigurationError(
                "\(path): [mqtt] has no url", next: "give it the broker, for example url = \"mqtts://broker.lan\"")
        }
        guard !address.isEncrypted else { return }
        if mqtt.certificatePath != nil {
            throw ConfigurationError(
                "\(path): mqtt.ca-file is of no use for \(address)",
                next: "an address that begins with mqtts:// uses TLS")
        }
        if mqtt.credentialsPath != nil, !address.isLoopback {
            throw ConfigurationError(
                "\(path): the broker's password would cross the network in plain text to \(address)",
                next: "let the broker listen with TLS, and give its address as mqtts://…")
        }
    }
}

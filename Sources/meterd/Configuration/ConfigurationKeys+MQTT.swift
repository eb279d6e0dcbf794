import Domain
import HomeAutomation

extension ConfigurationKeys {
    static let mqtt = ConfigurationTable(
        "mqtt",
        "A broker that hears of the meters, and Home Assistant through it (Docs/HomeAssistant.md). Without this table "
            + "there is none.",
        defaults: Configuration.MQTT(),
        keys: [
            .init(
                "url", optional: \.address, .broker, example: #""mqtts://broker.lan""#,
                "mqtts:// is TLS, on port 8883 unless one is given; mqtt:// is plain text, on 1883."),
            .init(
                "credentials-file", optional: \.credentialsPath, .file, example: #""/etc/meterd/broker""#,
                "Two lines, user and password. Nobody but its owner may write it and nobody but owner and group may read "
                    + "it; for the service that is owner root, group meterd, mode 0640. With mqtt:// only for a broker "
                    + "on this machine, or with plain-text."),
            .init(
                "plain-text", \.sendsPlainText, .flag,
                "true: the password may cross the network in plain text, to a broker that has no TLS."),
            .init(
                "ca-file", optional: \.certificatePath, .file, example: #""/etc/meterd/broker-ca.pem""#,
                "The authority of the broker's certificate, in PEM. Default: those that the system trusts."),
            .init("discovery-prefix", \.discoveryPrefix, .topic, "What Home Assistant looks below."),
            .init("base-topic", \.baseTopic, .topic, "What everything of ours begins with."),
            .init(
                "interval", \.interval, .time(.seconds(1) ... .seconds(3600)),
                "How often a meter's reading is published. {range}."),
        ])

    /// Checks the keys that depend on each other.
    static func check(_ mqtt: Configuration.MQTT) throws(ConfigurationError) {
        guard let address = mqtt.address else {
            throw ConfigurationError(
                "[mqtt] has no url", next: "give it the broker, for example url = \"mqtts://broker.lan\"")
        }
        guard !address.isEncrypted else { return }
        if mqtt.certificatePath != nil {
            throw ConfigurationError(
                "mqtt.ca-file is of no use for \(address)", next: "an address that begins with mqtts:// uses TLS")
        }
        if mqtt.credentialsPath != nil, !address.isLoopback, !mqtt.sendsPlainText {
            throw ConfigurationError(
                "the broker's password would cross the network in plain text to \(address)",
                next: "let the broker listen with TLS, and give its address as mqtts://…; or say mqtt.plain-text = true"
            )
        }
    }
}

extension ConfigurationType<String> {
    fileprivate static var topic: Self {
        .text(
            "levels of letters, digits, \".\", \"-\" and \"_\", with \"/\" between them", where: BrokerTopics.isPrefix)
    }
}

extension ConfigurationType<BrokerAddress> {
    fileprivate static var broker: Self {
        Self(read: { entry throws(ConfigurationError) in
            let text = try entry.text()
            do throws(HomeAutomationError) {
                return try BrokerAddress(text)
            } catch {
                throw ConfigurationError("\(entry.key): \(error.message)", next: error.next)
            }
        })
    }
}

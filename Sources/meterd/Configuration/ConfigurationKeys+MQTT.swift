import Domain
import HomeAutomation

extension ConfigurationKeys {
    static let mqtt = ConfigurationTable(
        "mqtt",
        "MQTT broker for meters and Home Assistant (Docs/HomeAssistant.md). Without this table meterd uses none.",
        defaults: Configuration.MQTT(),
        keys: [
            .init(
                "url", optional: \.address, .broker, example: #""mqtts://broker.lan""#,
                "mqtts:// is TLS on port 8883, mqtt:// plain text on 1883, unless a port is given."),
            .init(
                "credentials-file", optional: \.credentialsPath, .file, example: #""/etc/meterd/broker""#,
                "File of two lines, user and password; owner root, group meterd, mode 0640. With mqtt:// only for a "
                    + "broker on this machine, or with plain-text."),
            .init(
                "plain-text", \.sendsPlainText, .flag,
                "true: send the password in plain text to a broker without TLS."),
            .init(
                "ca-file", optional: \.certificatePath, .file, example: #""/etc/meterd/broker-ca.pem""#,
                "Authority of the broker's certificate, in PEM. Default: the system's."),
            .init("discovery-prefix", \.discoveryPrefix, .topic, "Prefix of the topics where Home Assistant looks."),
            .init("base-topic", \.baseTopic, .topic, "Prefix of all other topics."),
            .init(
                "interval", \.interval, .time(.seconds(1) ... .seconds(3600)),
                "Interval of a meter's published readings. {range}."),
        ])

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

import Domain
import GatewayAPI
import HomeAutomation
import Testing

@testable import Gateway
@testable import meterd

struct MQTTConfigurationTests {
    private func read(_ text: String) throws -> Configuration.MQTT { try Configuration(reading: text).mqtt }

    @Test func defaults_useNoBroker() throws {
        let mqtt = try read("")

        #expect(mqtt == Configuration.MQTT())
        #expect(mqtt.address == nil)
    }

    @Test func everyKey_isRead() throws {
        let mqtt = try read(
            """
            [mqtt]
            url = "mqtts://broker.lan:9999"
            credentials-file = "/etc/meterd/broker"
            ca-file = "/etc/meterd/ca.pem"
            discovery-prefix = "ha"
            base-topic = "home/meters"
            interval = "30s"
            """)

        #expect(mqtt.address == (try BrokerAddress("mqtts://broker.lan:9999")))
        #expect(mqtt.credentialsPath == "/etc/meterd/broker")
        #expect(mqtt.certificatePath == "/etc/meterd/ca.pem")
        #expect(mqtt.discoveryPrefix == "ha")
        #expect(mqtt.baseTopic == "home/meters")
        #expect(mqtt.interval == .seconds(30))
    }

    @Test(arguments: [
        ("mqtt = 1", "meterd.toml: mqtt has the wrong type\nit takes a table, [mqtt]"),
        ("[mqtt]", "meterd.toml: [mqtt] has no url\ngive it the broker, for example url = \"mqtts://broker.lan\""),
        (
            "[mqtt]\nurl = \"mqtt://u:s3cret@b\"",
            "meterd.toml: mqtt.url: the broker's address has a user in it\nuser and password go into the credentials file"
        ),
        (
            "[mqtt]\nurl = \"mqtt://broker.lan\"\ncredentials-file = \"/etc/b\"",
            "meterd.toml: the broker's password would cross the network in plain text to mqtt://broker.lan:1883\n"
                + "let the broker listen with TLS, and give its address as mqtts://…"
        ),
        (
            "[mqtt]\nurl = \"mqtt://localhost\"\nca-file = \"/etc/b\"",
            "meterd.toml: mqtt.ca-file is of no use for mqtt://localhost:1883\n"
                + "an address that begins with mqtts:// uses TLS"
        ),
        (
            "[mqtt]\nurl = \"mqtts://b\"\ncredentials-file = \"b\"",
            "meterd.toml: mqtt.credentials-file cannot be \"b\"\nit takes a path that begins with /"
        ),
        (
            "[mqtt]\nurl = \"mqtts://b\"\nbase-topic = \"a/#\"",
            "meterd.toml: mqtt.base-topic cannot be \"a/#\"\n"
                + "it takes levels of letters, digits, \".\", \"-\" and \"_\", with \"/\" between them"
        ),
        (
            "[mqtt]\nurl = \"mqtts://b\"\ninterval = \"100ms\"",
            "meterd.toml: mqtt.interval cannot be \"100ms\"\nit takes a time from 1s to 1h"
        ),
        ("[mqtt]\nurl = \"mqtts://b\"\npasword = \"x\"", "meterd.toml: unknown key \"mqtt.pasword\""),
    ])
    func illegalValue_isNamedWithWhatIsLegal(text: String, words: String) {
        var said = ""

        do { _ = try read(text) } catch { said = "\(error)" }

        #expect(said.hasPrefix(words), "\(said)")
    }

    /// A broker on this machine hears a password in plain text: nobody else does.
    @Test func passwordToLoopback_isFine() throws {
        #expect(try read("[mqtt]\nurl = \"mqtt://localhost\"\ncredentials-file = \"/b\"").credentialsPath == "/b")
    }
}

/// A meter as the bridge has it.
struct BridgedMeterTests {
    private func meter(_ lease: LeaseStatus.State?, holder: String? = nil, state: ConnectionState) -> BridgedMeter {
        let id = MeterID.mac(MACAddress(bits: 1))
        var snapshot = MeterSnapshot(id, state: state, since: WallTime(millisecondsSince1970: 0), isWanted: true)
        snapshot.lease = lease.map { LeaseStatus($0) }
        snapshot.lease?.holder = holder
        return BridgedMeter(snapshot, hostName: "bench")
    }

    @Test(
        arguments: [
            (.elsewhere, true), (.waiting, true), (.expired, true), (.requesting, true), (.held, false),
            (.jeopardy, false),
            (.lost, false), (.unleased, false), (LeaseStatus.State.none, false),
        ] as [(LeaseStatus.State, Bool)])
    func lease_decidesWhoSpeaks(state: LeaseStatus.State, isElsewhere: Bool) {
        #expect(meter(state, state: .notConnected).isElsewhere == isElsewhere)
    }

    @Test func holder_isTheLeases_elseThisHostWhileItIsConnected() {
        #expect(meter(.elsewhere, holder: "attic", state: .notConnected).holder == "attic")
        #expect(meter(LeaseStatus.State.none, state: .dataAvailable).holder == "bench")
        #expect(meter(LeaseStatus.State.none, state: .notConnected).holder == nil)
    }
}

import Domain
import HomeAutomation
import MeterCodec
import MeterTestKit
import Synchronization
import Testing

/// A meter behind a broker, as a session sees it.
struct SmartPlugChannelTests {
    private final class Bench: Sendable {
        let broker: ScriptedBroker
        let loop = VirtualLoop()
        let heard = Mutex<[String]>([])
        let opener: SmartPlugChannelOpener
        let plug: SmartPlugDescription

        init(accepts: Bool = true) throws {
            let broker = ScriptedBroker(accepts: accepts)
            self.broker = broker
            plug = try #require(SmartPlugPreset.tasmotaTelemetry.description("desk", isPolled: true))
            let settings = MosquittoLink.Settings(address: try BrokerAddress("mqtt://localhost"), clientID: "a-1")
            opener = SmartPlugChannelOpener(
                [(plug, settings)], on: loop, makeLink: { _ in broker }, else: ChannelOpeners([:], loop: loop))
        }

        func open(_ link: LinkAddress? = nil) -> any ByteChannel {
            let channel = opener.open(link ?? plug.link, as: LineSettings(baudRate: 1)) { [weak self] event in
                self?.heard.withLock { heard in
                    switch event {
                    case .opened: heard.append("opened")
                    case .received(let bytes): heard.append(String(decoding: bytes, as: UTF8.self))
                    case .closed(let failure): heard.append("\(failure.code): \(failure.message)")
                    }
                }
            }
            loop.advance(by: .milliseconds(1))
            return channel
        }

        func send(_ topic: String, _ text: String) {
            broker.send(BrokerMessage(topic, text))
            loop.advance(by: .milliseconds(1))
        }

        var last: String { heard.withLock { $0.last ?? "" } }
    }

    @Test func meter_isReadAndAsked_untilItIsGone() throws {
        let bench = try Bench()
        let channel = bench.open()
        #expect(bench.broker.now.subscriptions == ["tele/desk/SENSOR", "stat/desk/STATUS10", "tele/desk/LWT"])

        bench.send("tele/desk/LWT", "Online")
        channel.send(Array("status\n".utf8))
        bench.send("stat/desk/STATUS10", #"{"StatusSNS":{"ENERGY":{"Power":9}}}"#)

        #expect(bench.broker.now.published == [BrokerMessage("cmnd/desk/STATUS", "10")])
        #expect(bench.last.contains(#""power":9.0"#))
        bench.send("tele/desk/LWT", "Offline")
        #expect(bench.last.hasPrefix("unreachable: desk is offline"))
        #expect(bench.broker.now.closes == 1)
        bench.send("tele/desk/LWT", "Online")
        #expect(bench.heard.withLock { $0.count } == 3)
        withExtendedLifetime(channel) {}
    }

    @Test func brokersRefusals_areTheMetersProblem() throws {
        for (cause, words) in [
            ("lost", "unreachable: gone"), ("refused", "unsuitable: the broker refuses to send tele/desk"),
        ] {
            let bench = try Bench()
            let channel = bench.open()
            if cause == "lost" { bench.broker.lose() } else { bench.broker.refuseToTell() }
            bench.loop.advance(by: .milliseconds(1))
            #expect(bench.last.hasPrefix(words), "\(bench.last)")
            withExtendedLifetime(channel) {}
        }
    }

    @Test func linkThatIsNotConfigured_isRefused() throws {
        let bench = try Bench()
        _ = bench.open(.network(host: "mqtt:shelf"))
        #expect(bench.last.contains("no [[mqtt.meter]] for mqtt:shelf"))
        _ = bench.open(.network(host: "shelf.local"))
        #expect(!bench.last.contains("mqtt"))
    }
}

import Domain
import MeterCodec
import Testing

@testable import USBTransport

/// Which id a meter has through what happens to it and to its twins: A and B have one serial number, C another.
struct USBNamesTests {
    /// Each step is what is plugged in, as serial number and port, with the ids that it gets: `=` by the serial number,
    /// `@` by the port.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What the store knows: `=S` or `@PORT`, with the other half behind a slash where it was noted.
        var known: [String] = []
        var steps: [(plugged: String, ids: String)]
        var shares = false
    }

    static let stories: [Story] = [
        Story(testDescription: "one meter goes from port to port", steps: [("S/1", "=S"), ("", ""), ("S/2", "=S")]),
        Story(testDescription: "others have other numbers", steps: [("S/1", "=S"), ("S/1 C/2", "=S =C")]),
        Story(
            testDescription: "a twin comes and goes",
            steps: [("S/1", "=S"), ("S/1 S/2", "=S @2"), ("S/1", "=S"), ("S/1 S/2", "=S @2")]),
        Story(
            testDescription: "the first goes, and the twin stays",
            steps: [("S/1 ", "=S"), ("S/1 S/2", "=S @2"), ("S/2", "@2"), ("S/2 S/1", "@2 =S")]),
        Story(
            testDescription: "restarted while both are plugged in", known: ["=S/1", "@2/S"],
            steps: [("S/2 S/1", "@2 =S"), ("S/2", "@2"), ("S/1", "=S")]),
        Story(
            testDescription: "plugged in the other way round", known: ["=S/1", "@2/S"],
            steps: [("S/2", "@2"), ("S/2 S/1", "@2 =S")]),
        Story(
            testDescription: "one of them comes to a third port", known: ["=S/1", "@2/S"],
            steps: [("S/3", "@3"), ("S/1 S/3", "=S @3")]),
        Story(
            testDescription: "two at once, then one",
            steps: [("S/1 S/2", "@1 @2"), ("S/2", "@2"), ("S/3 S/2", "@3 @2")]
        ),
        Story(
            testDescription: "another takes the twin's port", known: ["=S/1", "@2/S"], steps: [("S/1 C/2", "=S =C")]),
        Story(
            testDescription: "an example's number, met anew", steps: [("S/1", "@1"), ("S/2", "@2"), ("S/1", "@1")],
            shares: true),
        Story(
            testDescription: "an example's number, known from before", known: ["=S"],
            steps: [("S/1", "=S"), ("S/1 S/2", "=S @2"), ("S/2", "@2"), ("S/1", "=S")], shares: true),
        Story(testDescription: "known to an earlier version by its port", known: ["@1"], steps: [("S/1", "@1")]),
        Story(
            testDescription: "known to an earlier version by both", known: ["=S", "@1", "@2"],
            steps: [("S/1", "=S"), ("S/1 S/2", "=S @2")]),
        Story(testDescription: "without a number", steps: [("/1", "@1"), ("/1 /2", "@1 @2"), ("/2", "@2")]),
    ]

    private func id(_ text: some StringProtocol) -> MeterID {
        let rest = String(text.dropFirst())
        return text.first == "="
            ? .usb(vendor: 1, product: 2, serial: rest) : .usbPort(vendor: 1, product: 2, host: "pi", path: rest)
    }

    private func meters(_ text: String, shares: Bool = false) -> [PluggedMeter] {
        text.split(separator: " ").map { one in
            let parts = one.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            let plug = USBPlug(port: parts[1], serial: parts[0].isEmpty ? nil : parts[0])
            return PluggedMeter(vendor: 1, product: 2, plug: plug, sharesSerial: shares, model: .fnb58, links: [])
        }
    }

    @Test(arguments: stories)
    func idOnceGiven_stays(story: Story) {
        var names = USBNames(host: "pi")
        for known in story.known {
            let parts = known.split(separator: "/").map(String.init)
            let isPort = known.first == "@"
            let plug =
                parts.count == 1
                ? nil : USBPlug(port: isPort ? String(parts[0].dropFirst()) : parts[1], serial: isPort ? parts[1] : nil)
            // Of a meter known by its serial number the store has both halves.
            let whole = isPort ? plug : plug.map { USBPlug(port: $0.port, serial: String(parts[0].dropFirst())) }
            names.remember(id(parts[0]), whole)
        }
        for (step, (plugged, ids)) in story.steps.enumerated() {
            let found = names.ids(of: meters(plugged, shares: story.shares))
            #expect(found == ids.split(separator: " ").map { id($0) }, "step \(step)")
        }
    }

    @Test func meterThatIsForgotten_isMetAnew_byItsPortIfAPersonSaidSo() {
        var names = USBNames(host: "pi")
        let here = meters("S/1")
        #expect(names.ids(of: here) == [id("=S")])
        names.forget(id("=S"), byPort: false)
        #expect(names.ids(of: here) == [id("=S")])

        names.forget(id("=S"), byPort: true)
        #expect(names.ids(of: here) == [id("@1")])
        // After a restart the store says so.
        var next = USBNames(host: "pi")
        next.remember(id("=S"), nil)
        next.remember(id("@1"), here[0].plug)
        #expect(next.ids(of: here) == [id("@1")])
    }
}

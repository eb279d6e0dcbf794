import Domain
import LinuxIO
import MeterCodec
import MeterTestKit
import Testing

@testable import USBTransport

/// The watcher with real libudev, over devices that umockdev makes up.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: MockTestbed.isPossible, "this process was not started by umockdev-wrapper: make test"))
struct UdevTests {
    @Test func fnb58_comesAndGoes_asItsHIDNode() async throws {
        let bed = try MockTestbed()
        try await watch { _, next in
            try bed.add(MockDevice.fnb58())
            let sighting = try #require(try await next().appeared)
            #expect(sighting.model == .fnb58)
            #expect(sighting.link == .hid(path: "/dev/hidraw0"))
            #expect(sighting.id == .usb(vendor: 0x2E3C, product: 0x5558, serial: "SN1"))

            for (path, node) in MockDevice.fnb58Nodes { try bed.remove(path, node: node) }
            #expect(try await next() == .vanished(sighting))
        }
    }

    @Test func metersThatAreThereAtFirst_areFound() async throws {
        let bed = try MockTestbed()
        try bed.add(MockDevice.fnb58())
        try bed.add(MockDevice.km003c())
        try await watch { _, next in
            let found = [try #require(try await next().appeared), try #require(try await next().appeared)]
            #expect(Set(found.map(\.link)) == [.hid(path: "/dev/hidraw0"), .serial(path: "/dev/ttyACM1")])
        }
    }

    /// Interface 0 has the kernel's `powerz` driver, and interface 3 a raw HID node.
    @Test func km003cWithTheKernelsDriver_isItsTerminal() async throws {
        let bed = try MockTestbed()
        try await watch { _, next in
            try bed.add(MockDevice.km003c())
            let sighting = try #require(try await next().appeared)
            #expect(sighting.model == .km003c)
            #expect(sighting.link == .serial(path: "/dev/ttyACM1"))
        }
    }

    @Test func identicalMeters_areTwo() async throws {
        let bed = try MockTestbed()
        try await watch { _, next in
            try bed.add(MockDevice.fnb58(serial: "A"))
            let first = try #require(try await next().appeared)
            try bed.add(MockDevice.fnb58(serial: "B", port: "1-4", number: 1))
            let second = try #require(try await next().appeared)
            #expect(first.id != second.id)
            #expect(second.link == .hid(path: "/dev/hidraw1"))
        }
    }

    @Test func devicesThatAreNoMeters_areNotTold() async throws {
        let bed = try MockTestbed()
        try await watch { _, next in
            try bed.add(MockDevice.modem)
            try bed.add(MockDevice.fnb58())
            // The first that is told.
            #expect(try #require(try await next().appeared).model == .fnb58)
        }
    }

    /// Runs a watcher that hears events alone: its time stands still.
    private func watch(
        _ body: (PortWatcher, _ next: () async throws -> SightingEvent) async throws -> Void
    ) async throws {
        try await withLoop { loop in
            // The testbed does not play udevd, but sends as both.
            let monitor = try #require(UdevMonitor(.udev))
            let watcher = PortWatcher(
                scanner: PortScanner(host: "pi"), loop: VirtualLoop(), listen: { monitor.events(on: loop) })
            let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
            let watching = Task { await watcher.run { report.yield($0) } }
            var iterator = events.makeAsyncIterator()
            try await body(watcher) {
                guard let event = await iterator.next() else { throw MockTestbed.Failure(what: "the watcher ended") }
                return event
            }
            watching.cancel()
            await watching.value
        }
    }
}

extension SightingEvent {
    fileprivate var appeared: Sighting? {
        if case .appeared(let sighting) = self { sighting } else { nil }
    }
}

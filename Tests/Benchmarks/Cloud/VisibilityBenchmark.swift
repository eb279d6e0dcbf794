import AsyncHTTPClient
import CloudAPI
import Domain
import Gateway
import Glibc
import LinuxIO
import MeterStore
import NIOCore
import NIOHTTP1

/// How long it takes until one host sees what another one did. Both in this process, the cloud between them in its own.
enum VisibilityBenchmark {
    /// Between one thing and the next, so that each is alone on its way. Seconds.
    private static let pause = 0.03
    private static let meter = MeterID.mac(MACAddress(bits: 0x02AB_CDEF_0001))

    static func run() async throws {
        Report.title("Seen on host B: written on host A, both with store, engine and stream, over TLS")
        let server = try MetercloudProcess(try TemporaryFolder())
        let (one, other) = (
            try await LibraryHost(joining: server, name: "host-a"),
            try await LibraryHost(joining: server, name: "host-b")
        )
        let (changes, leases) = try await one.run { one in
            let mine = one.engine.results.subscribe()
            return try await other.run { other in
                _ = try await other.awaitComplete(other.engine.results.subscribe())
                _ = try await one.awaitComplete(mine)
                try await Clocks.wait(until: Clocks.wall + 1)
                return (try await seeChanges(of: one, on: other), try await seeLeases(of: one, on: other))
            }
        }
        server.end()
        tell("a change", changes)
        tell("a lease", leases)
        let commits = try SQLiteControl().write(300, bytesEach: 600, perBatch: 1).quantile(0.5)
        Report.control("SQLite, three commits of a row", 3 * commits, of: changes.quantile(0.5))
        guard let etcd = try await EtcdControl.start() else { return }
        let watched = try await seePuts(in: etcd)
        try await etcd.end()
        Report.control("etcd, a put until its watcher has it", watched.quantile(0.5), of: changes.quantile(0.5))
        Report.figure("    its times", watched.words)
    }

    private static func tell(_ name: String, _ times: CallTimes) {
        Report.figure(name, "p50 \(times.quantile(0.5).milliseconds)", goal: (times.quantile(0.5) <= 0.02, "20 ms"))
        Report.figure("", "p99 \(times.quantile(0.99).milliseconds)", goal: (times.quantile(0.99) <= 0.1, "100 ms"))
    }

    /// From before A writes it until B reads it.
    private static func seeChanges(of one: LibraryHost, on other: LibraryHost) async throws -> CallTimes {
        var times: [Double] = []
        for number in 0..<200 {
            let refreshes = other.settings.refreshes.subscribe()
            let begin = Clocks.wall
            _ = try await one.settings.set(["name": "supply \(number)"], of: meter, for: nil)
            for await _ in refreshes {
                if try await other.settings.texts(of: meter)["name"] == "supply \(number)" { break }
            }
            times.append(Clocks.wall - begin)
            try await Clocks.wait(until: Clocks.wall + pause)
        }
        return CallTimes(times, total: times.reduce(0, +))
    }

    /// From before A asks for a meter until B's keeper shows A as its holder.
    private static func seeLeases(of one: LibraryHost, on other: LibraryHost) async throws -> CallTimes {
        var times: [Double] = []
        for number in 0..<100 {
            let meter = MeterID.mac(MACAddress(bits: 0x02AB_0000_0000 + UInt64(number)))
            let heard = other.heard.subscribe()
            let begin = Clocks.wall
            one.loop.execute { one.keeper.ask(for: meter, LeaseIntent(isAsked: true), over: .usb, isUp: false) }
            for await event in heard {
                guard case .lease(let lease) = event.value, lease.meter == meter else { continue }
                if lease.holder == one.store.identity.host { break }
            }
            times.append(Clocks.wall - begin)
            try await Clocks.wait(until: Clocks.wall + pause)
        }
        return CallTimes(times, total: times.reduce(0, +))
    }

    private static func seePuts(in etcd: EtcdControl) async throws -> CallTimes {
        let body = try await etcd.client.stream(.POST, "/v3/watch", EtcdControl.watch(prefix: "watched-"))
        var pieces = body.makeAsyncIterator()
        // That the watch is there.
        _ = try await pieces.next()
        var times: [Double] = []
        for number in 0..<200 {
            let begin = Clocks.wall
            async let put: ByteBuffer = etcd.client.post(
                "/v3/kv/txn", EtcdControl.put(number..<(number + 1), prefix: "watched-", bytesEach: 600))
            guard try await pieces.next() != nil else { throw BenchmarkError("etcd ended the watch") }
            times.append(Clocks.wall - begin)
            _ = try await put
            try await Clocks.wait(until: Clocks.wall + pause)
        }
        return CallTimes(times, total: times.reduce(0, +))
    }
}

import Domain
import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Testing

/// The monitor against a real kernel: a network namespace of its own, in which links come and go.
///
/// Real time passes here, and only orders of events are judged, never how quick they are; how the debounce counts is
/// tested in virtual time.
@Suite(.timeLimit(.minutes(10)), .enabled(if: NetworkNamespace.obstacle == nil, "\(NetworkNamespace.obstacle ?? "")"))
struct NetworkNamespaceTests {
    @Test func linkThatComesAndGoes_isReported() async throws {
        try await withNamespace { space in
            var paths = space.watch(host: "10.7.0.2")
            #expect(await paths.next() == .lost)

            try await space.addLink()
            #expect(await paths.next(isSatisfied: true)?.interface == "here")

            try await space.ip("link set there down")
            #expect(await paths.next(isSatisfied: false) == .lost, "no carrier")
            try await space.ip("link set there up")
            #expect(await paths.next(isSatisfied: true)?.interface == "here")
            try await space.ip("address del 10.7.0.1/24 dev here")
            #expect(await paths.next(isSatisfied: false) == .lost, "no address")
            try await space.ip("address add 10.7.0.1/24 dev here")
            #expect(await paths.next(isSatisfied: true)?.interface == "here")
            try await space.ip("link del here")
            #expect(await paths.next(isSatisfied: false) == .lost, "no link")
        }
    }

    @Test func linkWithoutARouteToTheServer_isNoPath_untilThereIsOne() async throws {
        try await withNamespace { space in
            var near = space.watch(host: "10.7.0.2")
            var far = space.watch(host: "10.9.9.9")
            try await space.addLink()
            _ = await near.next(isSatisfied: true)
            #expect(await far.next() == .lost)
            try await space.ip("route add default via 10.7.0.2")
            #expect(await far.next()?.isSatisfied == true)
            try await space.ip("route del default")
            #expect(await far.next() == .lost)
        }
    }

    @Test func fiveFlaps_giveOneSync() async throws {
        try await withNamespace { space in
            var host = try await DebouncedHost(in: space)
            for _ in 0..<5 {
                try await space.ip("link set there down")
                await host.hear(isSatisfied: false)
                try await space.ip("link set there up")
                await host.hear(isSatisfied: true)
            }

            host.pass(.seconds(3600))
            #expect(host.syncs == 1)
        }
    }

    @Test func lossAlone_andAGainThatIsLostAgain_giveNone() async throws {
        try await withNamespace { space in
            var host = try await DebouncedHost(in: space)
            try await space.ip("link set there down")
            await host.hear(isSatisfied: false)
            host.pass(.seconds(3600))
            #expect(host.syncs == 0)

            try await space.ip("link set there up")
            await host.hear(isSatisfied: true)
            host.pass(.milliseconds(2400))
            try await space.ip("link set there down")
            await host.hear(isSatisfied: false)
            host.pass(.seconds(3600))
            #expect(host.syncs == 0)
        }
    }

    @Test func lostMessages_areMadeUpFor() async throws {
        try await withNamespace { space in
            var paths = space.watch(host: "10.7.0.2")
            #expect(await paths.next() == .lost)
            try await space.addLink()
            // The loop is busy while the kernel says more than a socket holds.
            try await space.flood(links: 3000)
            _ = await paths.next(isSatisfied: true)
            try await space.ip("link set there down")
            #expect(await paths.next(isSatisfied: false) == .lost)
        }
    }
}

/// A debounce in virtual time that hears real changes. Time passes only when a test says so, so that it does not matter
/// how long the kernel takes.
private struct DebouncedHost {
    private var debounce = NetworkDebounce()
    private var paths: AsyncStream<NetworkPath>.Iterator
    private var now = MonotonicTime.origin
    private(set) var syncs = 0

    /// On a link that is up.
    init(in space: NetworkNamespace) async throws {
        paths = space.watch(host: "10.7.0.2")
        try await space.addLink()
        // A carrier takes its time; what is before the first path is none of the debounce's business.
        guard let path = await paths.next(isSatisfied: true) else { return }
        debounce.pathChanged(to: path, at: now, random: 0)
    }

    /// Hears what comes, until it is that.
    mutating func hear(isSatisfied: Bool) async {
        while let path = await paths.next() {
            debounce.pathChanged(to: path, at: now, random: 0)
            if path.isSatisfied == isSatisfied { return }
        }
    }

    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let wake = debounce.nextWake, wake <= end {
            now = wake
            if debounce.woke(at: now) == .synchronise { syncs += 1 }
        }
        now = end
    }
}

extension AsyncStream<NetworkPath>.Iterator {
    /// The next path that is like this. The kernel takes steps of its own in between.
    fileprivate mutating func next(isSatisfied: Bool) async -> NetworkPath? {
        while let path = await next() {
            if path.isSatisfied == isSatisfied { return path }
        }
        return nil
    }
}

/// Lends a namespace, on a loop whose thread lives in it.
private func withNamespace(_ body: (NetworkNamespace) async throws -> Void) async throws {
    try await withLoop { loop in
        let space = try await NetworkNamespace(loop)
        do {
            try await body(space)
        } catch {
            await space.leave()
            throw error
        }
        await space.leave()
    }
}

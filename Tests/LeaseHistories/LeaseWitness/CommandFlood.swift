import AsyncHTTPClient
package import Cloud
import CloudAPI
package import CloudClient
import Domain
import Gateway
import LinuxIO
import NIOCore
import NIOHTTP1

/// Four hosts of one zone send commands and take them back, before and after the store has all that they may have there.
/// Meanwhile a host of another zone has another one do something, and somebody asks whether the cloud is well.
///
/// The same is asked first while nothing is stored: a machine on which that takes long proves nothing.
package struct CommandFlood: Sendable {
    /// The zone that is judged, and the one that floods.
    package static let zones = ["calm", "loud"]
    /// Stored commands of one host (Docs/ThreatModel.md).
    private static let share = 512
    private static let floodingHosts = 4
    /// Questions in each phase.
    private static let probes = 4
    /// Limit of an answer on a quiet machine, where it takes a hundredth of that; and how many times as long as without stored
    /// commands it may take on any other.
    private static let (longest, longestRatio) = (Duration.seconds(2), 4)

    /// Less than a stored command's 75 s: after it, some are gone again.
    private static let storedTime = Duration.seconds(60)

    private var limit = CommandFlood.longest
    /// Whether the machine is too busy for a judgement.
    package private(set) var isTooBusy = false
    private(set) var commands: [Duration] = []
    private(set) var health: [Duration] = []
    /// What is wrong.
    package private(set) var complaints: [String] = []

    package var figures: String {
        guard !isTooBusy else { return "not judged, as the machine is too busy" }
        func slowest(_ times: [Duration]) -> String { "\((times.max() ?? .zero).milliseconds) ms" }
        return "another zone's commands took at most \(slowest(commands)), /v1/health \(slowest(health))"
    }

    /// - Parameters:
    ///   - url: of a copy of the cloud that has `zones`.
    ///   - enrolments: tokens with which hosts join them.
    ///   - pause: between two commands of a host.
    ///   - engine: its store, where the commands that nobody claimed are put at once; to send them would take a minute.
    package init(url: String, enrolments: [Secret], pause: Duration, engine: any CloudEngine) async throws {
        let calm = try await Bench(hosts: 1, url: url, enrolment: enrolments[0])
        let loud = try await Bench(hosts: Self.floodingHosts, url: url, enrolment: enrolments[1])
        do {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await calm.serve() }
                for author in loud.authors { group.addTask { await loud.flood(from: author, each: pause) } }
                await judge(calm, url)
                if !complaints.isEmpty {
                    (isTooBusy, complaints) = (true, [])
                    return group.cancelAll()
                }
                limit = max(limit, (commands + health).reduce(.zero, max) * Self.longestRatio)
                (commands, health) = ([], [])
                let start = LinuxClock.now
                // With room for those that are not known yet; and without any.
                for count in [Self.share - 64, 64] {
                    try await loud.store(count, in: engine)
                    try await Task.sleep(for: .milliseconds(500))
                    await judge(calm, url)
                }
                isTooBusy = LinuxClock.now > start + Self.storedTime
                if isTooBusy { complaints = [] }
                if complaints.isEmpty, !isTooBusy { await judgeRefusal(of: loud) }
                group.cancelAll()
            }
        } catch {
            complaints.append("\(error)")
        }
        for client in calm.clients + loud.clients { await client.shutdown() }
    }

    private mutating func judge(_ calm: Bench, _ url: String) async {
        for _ in 0..<Self.probes where complaints.isEmpty {
            let (words, time) = await Self.timed { await calm.order(from: calm.authors[0], patience: limit) }
            commands.append(time)
            if let words { complaints.append("a command of another zone was not done: \(words)") }
            if time > limit { complaints.append("a command of another zone took \(time.milliseconds) ms") }
            let (status, wait) = await Self.timed {
                let end = LinuxClock.now + limit
                var status: UInt?
                repeat {
                    status = try? await HTTPClient.shared.execute(
                        HTTPClientRequest(url: url + "/v1/health"), timeout: .milliseconds(limit.milliseconds)
                    ).status.code
                } while status == nil && LinuxClock.now < end
                return status
            }
            health.append(wait)
            if status != 200 {
                let answer = status.map { "\($0)" } ?? "nothing"
                complaints.append("/v1/health answered \(answer) in \(wait.milliseconds) ms")
            }
        }
    }

    private mutating func judgeRefusal(of loud: Bench) async {
        let words = await loud.order(from: loud.authors[0], patience: limit) ?? ""
        if !words.contains("\(Self.share) are stored") { complaints.append("who has no share left was told: \(words)") }
    }

    private static func timed<Value: Sendable>(_ body: () async -> Value) async -> (Value, Duration) {
        let start = LinuxClock.now
        return (await body(), LinuxClock.now - start)
    }
}

/// A host that has a meter, and others of its zone that command it.
private struct Bench {
    let meter = MeterID.usb(vendor: 0x0483, product: 0x00FF, serial: "flooded")
    let token: FencingToken
    let hosts: [HostID]
    let authors: [CloudClient]
    private let holder: CloudClient
    private let session: SessionID

    var clients: [CloudClient] { [holder] + authors }

    init(hosts count: Int, url: String, enrolment: Secret) async throws {
        var rng = SystemRandomNumberGenerator()
        var hosts: [HostID] = []
        var clients: [CloudClient] = []
        for number in 0...count {
            let host = HostID(using: &rng)
            hosts.append(host)
            let membership = try await CloudClient.join(
                urls: [url], token: enrolment, pin: nil,
                as: JoinRequest(hostID: host.description, hostName: "bench \(number)", machine: "bench \(number)"))
            clients.append(try CloudClient(membership))
        }
        session = SessionID(using: &rng)
        let request = LeaseAcquire(
            requestID: RequestID(using: &rng), host: hosts[0], hostName: "bench 0", session: session,
            previousSession: nil, timeToLive: .seconds(120), transport: .usb, takeover: nil)
        guard case .granted(let lease) = try await clients[0].acquire(request, of: meter) else {
            throw MeterOfFloodIsTaken()
        }
        token = lease.token
        (holder, authors, self.hosts) = (clients[0], Array(clients.dropFirst()), Array(hosts.dropFirst()))
    }

    /// Stores so many commands of each author that nobody claimed.
    func store(_ count: Int, in engine: any CloudEngine) async throws {
        try await withThrowingTaskGroup { group in
            for author in hosts {
                let wish = CommandWish(
                    author: author, meter: meter.description, token: token.rawValue,
                    action: RelayActionBody(kind: "stopRecording"))
                let command = StoredCommand(
                    wish, holder: author, holderName: "",
                    outcome: RelayCommandAnswer(.notDone, message: "nobody took it"))
                group.addTask {
                    var rng = SystemRandomNumberGenerator()
                    for _ in 0..<count {
                        try await engine.decideCommand(RequestID(using: &rng), under: nil, in: CommandFlood.zones[1]) {
                            _, _ in CommandDecision((), storing: command)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Does what it is told until its task is cancelled.
    func serve() async {
        while !Task.isCancelled {
            do {
                for try await event in holder.events() {
                    guard case .command(let command) = event, try await holder.claim(command, session: session) else {
                        continue
                    }
                    try await holder.answer(command, .done(result: nil))
                }
            } catch {
                // Whoever waits for it says so.
            }
        }
    }

    /// - Parameter patience: how long it repeats the command where the connection breaks, as it may while hosts that share
    ///   one address here open hundreds a second.
    /// - Returns: why it was not done, as its author heard it; nil if it was.
    func order(from author: CloudClient, patience: Duration = .zero) async -> String? {
        var rng = SystemRandomNumberGenerator()
        let (id, end) = (RequestID(using: &rng), LinuxClock.now + patience)
        while true {
            do throws(SyncFailure) {
                switch try await author.command(id, .stopRecording, of: meter, token: token) {
                case .done: return nil
                case .refused(_, let words, _), .notDone(let words), .timedOut(let words): return words
                }
            } catch {
                guard error.kind == .network, LinuxClock.now < end else { return "\(error)" }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Commands, and takes each back before long, until its task is cancelled.
    func flood(from author: CloudClient, each pause: Duration) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                group.addTask {
                    let sent = Task { await order(from: author) }
                    try? await Task.sleep(for: pause * 2)
                    sent.cancel()
                    _ = await sent.value
                }
                try? await Task.sleep(for: pause)
            }
        }
    }
}

/// Another host has the meter that a flood is about, so that the run shows nothing.
private struct MeterOfFloodIsTaken: Error {}

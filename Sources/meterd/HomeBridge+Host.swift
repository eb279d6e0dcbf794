import Domain
import Gateway
import GatewayAPI
import HomeAutomation
import LinuxIO
import Logging
import MeterCodec

extension HomeBridge {
    /// Returns nil if no MQTT broker is configured.
    static func make(
        _ configuration: Configuration.MQTT, host: HostID, hostName: String, directory: MeterDirectory,
        alerts: AlertService, marks: MarkService, loop: IOLoop,
        formerMeters: [MeterID], logger: Logger
    ) -> HomeBridge? {
        guard let link = configuration.link(clientID: "metergateway-\(host)") else { return nil }
        var settings = BridgeMachine.Settings(
            topics: BrokerTopics(
                base: configuration.baseTopic, discoveryPrefix: configuration.discoveryPrefix, host: hostName,
                id: host),
            version: VersionBody.current.version)
        settings.interval = configuration.interval
        settings.formerMeters = formerMeters
        var logger = logger
        logger[metadataKey: "broker"] = "\(link.address)"
        return HomeBridge(
            settings,
            Dependencies(
                link: MosquittoLink(link), loop: loop,
                meters: { directory.snapshots().map { BridgedMeter($0, hostName: hostName) } },
                alerts: { alerts.entries.map { BridgedAlert($0) } },
                marks: { marks.takeNews().map { BridgedMark($0) } },
                perform: { request, meter in
                    await RequestOutcome(of: request, on: meter, in: directory, marks: marks)
                },
                rng: SystemRandomNumberGenerator()),
            logger: logger)
    }
}

extension Configuration.MQTT {
    /// Returns nil if no broker is configured.
    func link(clientID: String) -> MosquittoLink.Settings? {
        address.map { address in
            var link = MosquittoLink.Settings(address: address, clientID: clientID)
            (link.credentialsPath, link.certificatePath) = (credentialsPath, certificatePath)
            return link
        }
    }
}

extension BridgedMeter {
    /// - Parameter hostName: this host's name, shown as the holder of a connected meter without a lease.
    init(_ snapshot: MeterSnapshot, hostName: String) {
        self.init(snapshot.id, state: snapshot.state, since: snapshot.since, isWanted: snapshot.isWanted)
        (name, model) = (snapshot.name, snapshot.model?.displayName)
        (serial, firmware) = (snapshot.device?.serial, snapshot.device?.firmware)
        hardware = snapshot.device?.hardware
        (transport, error) = (snapshot.transport?.rawValue, snapshot.error)
        (reading, told) = (snapshot.reading, snapshot.told)
        countedSince = snapshot.countedSince
        abilities = snapshot.commands.map { Ability($0.kind, $0.numbers, step: $0.step) }
        switch snapshot.lease?.state {
        // While this host requests the lease, another host may hold it.
        case .elsewhere, .waiting, .expired, .requesting: isElsewhere = true
        case .held, .jeopardy, .lost, .unleased, .some(.none), nil: break
        }
        switch snapshot.state {
        case .offline, .notConnected, .connecting: holder = snapshot.lease?.holder
        case .connected, .ready, .communicating, .dataAvailable: holder = snapshot.lease?.holder ?? hostName
        }
    }
}

extension BridgedAlert {
    init(_ entry: AlertEntry) {
        self.init(number: entry.rule.id.rawValue, meter: entry.rule.meter, condition: entry.rule.pattern.text)
        name = entry.rule.name
        isMomentary = entry.rule.pattern.condition.isMomentary
        isRaised = entry.standing.isRaised
        count = entry.standing.count
        (raisedAt, clearedAt) = (entry.standing.raisedAt, entry.standing.clearedAt)
        value = entry.standing.value
    }
}

extension BridgedMark {
    init(_ entry: MarkEntry) {
        let mark = entry.mark
        self.init(id: mark.id.short, meter: entry.meter, name: mark.name, start: mark.start, end: mark.end)
    }
}

extension BrokerStatus {
    init(_ status: HomeBridge.Status, at address: BrokerAddress) {
        self.init(url: "\(address)")
        (connected, since) = (status.isConnected, status.since?.description)
        (queued, backlog) = (status.queued, status.backlog)
        (published, dropped, refused) = (status.published, status.dropped, status.refused)
        (refused_topics, hears_requests) = (status.refusedTopics, status.hearsRequests)
        links_opened = status.linksOpened
        (error, next) = (status.trouble?.message, status.trouble?.next)
    }
}

extension RequestOutcome {
    /// Maximum wait for a connection, in milliseconds. Then the answer is that meterd is still trying.
    private static let connectWait: Int64 = 10_000

    init(of request: MeterRequest, on meter: MeterID, in directory: MeterDirectory, marks: MarkService) async {
        do throws(GatewayError) {
            let reference = meter.description
            switch request.kind {
            case .connect(let takeover):
                var body = ConnectRequest(wait_ms: Self.connectWait)
                body.takeover = takeover
                self = .done(state: try await directory.connect(reference, body, by: .broker).state)
            case .disconnect:
                self = .done(state: try await directory.disconnect(reference, by: .broker).state)
            case .command(let command):
                let session = try await directory.command(command, reference, by: .broker)
                self = .done(state: await session.status().state)
            case .mark(let name):
                _ = try await marks.add(MarkService.Order(name: name), of: meter)
                self = .done(state: try await directory.session(reference).status().state)
            }
        } catch {
            self = .failed(code: error.code.rawValue, message: error.message, next: error.next)
        }
    }
}

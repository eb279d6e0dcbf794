import Cloud
import CloudAPI
import CloudServer
import CloudStore
import Domain
import LinuxIO
import Logging
import ServerKit

/// A host as the cloud knows it, with the leases that it holds.
struct CloudHost: Sendable {
    let session: SessionID
    /// Its bearer token.
    let token: String
    var leases: [RenewRequest.Lease] = []
    var zone = CloudFilling.zone
}

/// Fills a cloud's folder before a server has it: what stands there long since when a measurement begins.
struct CloudFilling: Sendable {
    static let zone = CloudFolder.firstZone
    /// Calls at a time, so that they share commits.
    private static let width = 64

    private let engine: SQLiteCloudEngine
    private let service: CloudService

    init(_ folder: TemporaryFolder) async throws {
        var rng = SystemRandomNumberGenerator()
        engine = try SQLiteCloudEngine.open(directory: folder.path, now: LinuxClock.now, rng: &rng)
        service = CloudService(
            engine: engine,
            clock: CloudClock(now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow }, sleep: { _ in }), rng: rng,
            logger: Logger(label: "filling") { _ in SwiftLogNoOpLogHandler() })
        _ = try await service.createZone(Self.zone, terms: .standard)
        // A hundred thousand records in one host's name are more than its share.
        try await service.setQuota(.unlimited, of: Self.zone)
    }

    func close() throws { try engine.close() }

    /// Hosts that hold so many leases each, in the order of their numbers.
    ///
    /// - Parameter hostsPerZone: nil: all are in the first zone.
    func addHosts(_ count: Int, leasesEach: Int, hostsPerZone: Int? = nil) async throws -> [CloudHost] {
        try await withThrowingTaskGroup(of: (Int, CloudHost).self) { group in
            var hosts: [Int: CloudHost] = [:]
            for number in 0..<count {
                if number >= Self.width, let (number, host) = try await group.next() { hosts[number] = host }
                let place = number / (hostsPerZone ?? count)
                let zone = place == 0 ? Self.zone : "\(Self.zone)-\(place)"
                if number % (hostsPerZone ?? count) == 0 {
                    _ = try await service.createZone(zone, terms: .standard)
                }
                group.addTask { (number, try await addHost(number, leases: leasesEach, in: zone)) }
            }
            for try await (number, host) in group { hosts[number] = host }
            return hosts.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func addHost(_ number: Int, leases: Int, in zone: String) async throws -> CloudHost {
        var rng = SystemRandomNumberGenerator()
        let token = BearerToken(using: &rng)
        var credential = Credential(
            id: "host-\(number)", hash: token.hash, zone: zone, kind: .host, label: "host-\(number)",
            createdAt: LinuxClock.wallNow)
        credential.binding = Credential.Binding(
            host: HostID(using: &rng), hostName: "host-\(number)", machine: "machine-\(number)")
        try await engine.add(credential)
        var host = CloudHost(session: SessionID(using: &rng), token: token.text, zone: zone)
        for place in 0..<leases {
            let meter = MeterID.mac(MACAddress(bits: 0x02AB_0000_0000 + UInt64(number * leases + place)))
            let request = AcquireRequest(
                requestID: RequestID(using: &rng).description, session: host.session.description, transport: "usb")
            let lease = try await service.acquire(
                request, meter: meter.description, in: zone, by: Principal(credential: credential))
            host.leases.append(RenewRequest.Lease(meter: lease.meter, token: lease.token))
        }
        return host
    }

    func add(_ records: [SyncRecord]) async throws {
        for start in stride(from: 0, to: records.count, by: CloudLimits.recordsPerBatch) {
            let end = min(start + CloudLimits.recordsPerBatch, records.count)
            let outcomes = try await engine.modify(
                Array(records[start..<end]), in: Self.zone, now: LinuxClock.wallNow, leaseTime: LinuxClock.now)
            guard outcomes.allSatisfy({ $0.record != nil }) else {
                throw BenchmarkError("a record was refused: \(outcomes[0])")
            }
        }
    }
}

/// Settings of meters as people may have made them: five properties, 0.6 kB as JSON.
enum SampleRecords {
    static let propertiesEach = 5

    /// - Parameter version: a greater one is the younger.
    static func settings(_ numbers: Range<Int>, version: Int = 0) -> [SyncRecord] {
        let now = UInt64(clamping: LinuxClock.wallNow.millisecondsSince1970) - 1000
        let host = HostID(high: 0x4000, low: 0x8000_0000_0000_0000)
        return numbers.map { number in
            let stamp = Stamp(milliseconds: now + UInt64(version), counter: UInt16(clamping: version), host: host)
            let values: [String: SettingValue] = [
                "name": .string("Bench supply \(number)"),
                "notes": .string("third shelf, the one with the short lead; version \(version)"),
                "poll-interval": .string("500ms"), "temperature-unit": .string("C"), "threshold": .int(Int64(number)),
            ]
            return SyncRecord(key: key(number), properties: values.mapValues { Register(value: $0, stamp: stamp) })
        }
    }

    static func key(_ number: Int) -> RecordKey {
        // Every name has letters, so that an older form of it differs.
        RecordKey(
            type: .deviceSettings, name: MeterID.mac(MACAddress(bits: 0x02CD_0000_0000 + UInt64(number))).description)
    }
}

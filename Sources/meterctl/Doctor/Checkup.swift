import Domain
import GatewayAPI
import ProgramKit

/// Turns facts about the machine and meterd into findings of `meterctl doctor`.
struct Checkup {
    enum DaemonFacts {
        case answers(Answers)
        case fails(CommandFailure)
    }

    /// The daemon's responses; nil for a request that its version lacks.
    struct Answers {
        var version: VersionBody
        var status: GatewayStatus
        var cloud: CloudStatus
        var page: WebStatus?
        var broker: BrokerStatus?
        var influx: InfluxStatus?
        var nodes: ScanNodes?
    }

    let machine: MachineFacts
    let daemon: DaemonFacts

    var findings: [Finding] {
        var all: [Finding] = []
        var adapters: [AdapterStatus] = []
        switch daemon {
        case .fails(let failure):
            all.append(Finding("daemon", .problem, failure.message, next: failure.next))
        case .answers(let answers):
            all.append(Self.daemon(answers.version))
            adapters = answers.status.adapters
            all += Self.meters(answers.status.meters)
            all.append(Self.store(answers.status.store))
            if let backup = answers.status.store.backup { all.append(Self.backup(backup)) }
            all.append(Self.cloud(answers.cloud))
            if let clock = Self.cloudClock(answers.cloud) { all.append(clock) }
            if let page = answers.page { all += Self.page(page) }
            if let broker = answers.broker { all += Self.broker(broker) }
            if let influx = answers.influx { all += Self.influx(influx) }
            // Report a missing Avahi only once.
            if let nodes = answers.nodes, nodes.error == nil || nodes.error != answers.page?.announcement_error {
                all += Self.nodes(nodes)
            }
        }
        all += [disk, clock].compactMap { $0 }
        all += ports + unclaimed + sharedSerials + rules + drivers + radios(adapters)
        all += pairing(adapters)
        all.append(Finding("kernel", .ok, machine.kernel.map { "Linux \($0)" } ?? "unknown"))
        return all
    }

    // MARK: The daemon

    private static func daemon(_ version: VersionBody) -> Finding {
        let own = VersionBody.current
        guard version.version == own.version, version.commit == own.commit else {
            return Finding(
                "daemon", .note,
                "meterd \(version.version) (\(version.commit)) answers, and this is meterctl \(own.version) (\(own.commit))",
                next: "restart meterd, so that both are of one version: sudo systemctl restart meterd")
        }
        return Finding("daemon", .ok, "meterd \(version.version) answers")
    }

    private static func meters(_ meters: [MeterStatus]) -> [Finding] {
        guard !meters.isEmpty else {
            return [
                Finding(
                    "meters", .note, "none was ever seen",
                    next: "plug one in and see meterctl scan, or try it without one: meterd --demo")
            ]
        }
        let mute = meters.filter { $0.hasData && $0.answersNoQuery }.map { meter in
            Finding(
                "meters", .note, "\(meter.name ?? meter.id) answers no queries, so meterd reads its reports only",
                next: "its firmware may lack queries; from here it can be switched off, but not on")
        }
        let remarks = meters.filter { $0.hasData && !$0.hasTwin }.compactMap { meter in
            meter.error.map { Finding("meters", .note, "\(meter.name ?? meter.id) has data, but: \($0)") }
        }
        let twins = meters.filter(\.hasTwin).map { meter in
            Finding(
                "meters", .problem, "\(meter.id) is plugged in here and at \(meter.lease?.holder ?? "another host")",
                next: MeterID(meter.id)?.twinRemedy)
        }
        let silent = meters.filter { $0.wanted && !$0.hasData && !$0.hasTwin }
        guard !silent.isEmpty else {
            let words = "\(meters.count) known, every one that is wanted has data"
            return twins + (twins.isEmpty ? [Finding("meters", .ok, words)] : []) + mute + remarks
        }
        return twins + mute + remarks
            + silent.map { meter in
                Finding(
                    "meters", meter.error == nil ? .note : .problem,
                    "\(meter.name ?? meter.id) is \(meter.state)\(meter.error.map { ": \($0)" } ?? "")",
                    next: next(for: meter))
            }
    }

    private static func next(for meter: MeterStatus) -> String {
        guard meter.rejected_answers != nil else { return "meterctl status \(meter.id) shows the details" }
        let model =
            meter.port?.hasPrefix("/dev/") ?? false
            ? "a port's model is in [[port]] of meterd.toml, or after --model in meterctl connect"
            : "meterctl forget \(meter.id) makes meterd recognise it again"
        return
            "if it is another model: \(model); if not, try another cable or place; meterctl capture \(meter.id) -o FILE "
            + "records what it sends, for a report"
    }

    private static func store(_ store: StoreStatus) -> Finding {
        if let error = store.error {
            return Finding(
                "store", .problem, "\(store.path): \(error)", next: "readings wait in memory until it is fixed")
        }
        if let crowding = store.crowding {
            return Finding(
                "store", .note, "\(store.path) is larger than its limit: \(crowding)",
                next: "raise max-megabytes in meterd.toml, or see who fills the zone: metercloud zone show")
        }
        guard store.dropped == 0 else {
            return Finding(
                "store", .note, "\(store.path): \(store.dropped) readings were dropped since meterd started",
                next: "the log of meterd names the reason")
        }
        return Finding("store", .ok, store.path)
    }

    private static func backup(_ backup: BackupStatus) -> Finding {
        let age = backup.age_ms.map { "\(Formatting.age(milliseconds: $0)) old" }
        let last = backup.written.map { "the last good one is \(age ?? "of unknown age, dated \($0)")" } ?? "none yet"
        guard let error = backup.error else { return Finding("backup", .ok, "\(backup.directory): \(last)") }
        return Finding("backup", .problem, "\(error); \(last)", next: "meterd tries again by itself")
    }

    private static func cloud(_ cloud: CloudStatus) -> Finding {
        if let unserved = cloud.unserved { return Finding("cloud", .problem, unserved) }
        guard cloud.joined else { return Finding("cloud", .ok, "this host belongs to no cloud") }
        let zone = cloud.zone ?? "?"
        guard cloud.connected, cloud.error == nil else {
            return Finding(
                "cloud", .problem, cloud.error ?? "the zone \(zone) is joined, but no events arrive",
                next: "meterctl sync status shows the details; the host works without it meanwhile")
        }
        let role = cloud.role == HostRole.readOnly.rawValue ? ", which may only look" : ""
        return Finding("cloud", .ok, "member of the zone \(zone) as \(cloud.host_name)\(role)")
    }

    /// Returns a finding if the system clock differs from the cloud's, because users see wrong times. Leases do not
    /// depend on it.
    private static func cloudClock(_ cloud: CloudStatus) -> Finding? {
        guard let offset = cloud.clock_offset_ms, abs(offset) > 60_000 else { return nil }
        let words = "\(Formatting.age(milliseconds: abs(offset))) \(offset < 0 ? "behind" : "ahead of")"
        return Finding("clock", .problem, "this machine's clock is \(words) the cloud's", next: setClock)
    }

    private static func page(_ page: WebStatus) -> [Finding] {
        if let error = page.error { return [Finding("page", .problem, error, next: page.next)] }
        guard page.serving, let url = page.urls.first else {
            return [
                page.listen.isEmpty
                    ? Finding("page", .ok, "not served, as [web] serve is false")
                    : Finding("page", .note, "not served yet", next: "run this again in a moment")
            ]
        }
        let announcing = page.announcement_error.map {
            Finding("announcement", .note, "the page is not announced: \($0)", next: page.announcement_next)
        }
        let name = page.announced.map { ", announced as \($0)" } ?? ""
        let who = page.enabled ? "with a login" : "for this machine alone"
        let found = page.warning.map {
            Finding("page", .note, "\(url), \(who)\(name); \($0)", next: WebStatus.encryption)
        }
        return [found ?? Finding("page", .ok, "\(url), \(who)\(name)")]
            + [page.tls.flatMap(certificate), announcing].compactMap { $0 }
    }

    /// Returns nil if there is no problem.
    private static func certificate(_ tls: WebTLSStatus) -> Finding? {
        let inUse = tls.fingerprint == nil ? "https is not served" : "an older certificate is in use"
        if let error = tls.error {
            return Finding(
                "certificate", .problem, "\(inUse): \(error)",
                next: "correct certificate-file and key-file; meterd reads them again by itself")
        }
        guard let days = tls.days_left, days < 14, let ends = tls.ends else { return nil }
        return Finding(
            "certificate", days < 0 ? .problem : .note, "it \(days < 0 ? "ended" : "ends") at \(ends)",
            next: tls.self_signed ? "the log of meterd says why it was not renewed" : "renew it")
    }

    // MARK: The machine

    private static let setClock = "sudo timedatectl set-ntp true, on a machine with a network"

    private var clock: Finding? {
        guard let isSynchronised = machine.isClockSynchronised else { return nil }
        if isSynchronised { return Finding("clock", .ok, "synchronised") }
        let rest = machine.hasHardwareClock ? "" : ", and the machine has no battery-backed clock"
        return Finding("clock", .note, "this machine's clock is not synchronised\(rest)", next: Self.setClock)
    }

    private var disk: Finding? {
        guard let space = machine.freeSpace else { return nil }
        let room =
            space.bytes < 10_000_000_000 ? "\(space.bytes / 1_000_000) MB" : "\(space.bytes / 1_000_000_000) GB"
        let words = "\(room) are free in \(space.folder)"
        if space.bytes < 100_000_000 {
            return Finding("disk", .problem, words, next: "make room: a full disk costs the oldest readings first")
        }
        if space.bytes < 1_000_000_000 {
            return Finding("disk", .note, words, next: "keep-days and max-megabytes in meterd.toml bound the readings")
        }
        return Finding("disk", .ok, words)
    }
}

extension MeterStatus {
    fileprivate var hasTwin: Bool {
        guard case .usb? = MeterID(id), state != ConnectionState.offline.rawValue, let lease else { return false }
        return [.elsewhere, .waiting].contains(lease.state) && lease.transport == "usb"
    }

    /// Whether the meter answers no queries and only pushes data.
    fileprivate var answersNoQuery: Bool { told?.details["queries"] == .text("no answer") }
}

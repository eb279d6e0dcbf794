package import Domain
package import MeterCodec

/// A device that is or may be a meter, received over one adapter and one kind of radio.
package struct RadioSighting: Hashable, Sendable {
    package var device: RadioAddress
    package var adapter: MACAddress
    /// Nil for a possible meter.
    package var model: ModelName?
    package var name: String?
    package var rssi: Int?

    package init(device: RadioAddress, adapter: MACAddress, model: ModelName?, name: String?, rssi: Int?) {
        self.device = device
        self.adapter = adapter
        self.model = model
        self.name = name
        self.rssi = rssi
    }
}

package enum RadioSightingEvent: Hashable, Sendable {
    /// A device received for the first time, or identified better than before.
    case appeared(RadioSighting)
    /// A device that is still received; sent at intervals of at least `heardInterval`.
    case heard(RadioSighting)
    case vanished(RadioSighting)
}

/// A device that was received but not reported, with the reason.
package struct PassedOverRadio: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case noMeter
        /// Not a permanent address, so it identifies no device.
        case address(MACAddress.IdentityFault)
        /// A random address with a pattern that the standard reserves.
        case reservedAddress
        case noRoom
    }

    package var sighting: RadioSighting
    package var looksLikeMeter: Bool
    package var reason: Reason
}

package struct SightingTiming: Hashable, Sendable {
    var heardInterval: Duration = .seconds(5)
    /// Time without an advertisement until a meter counts as gone. Only time in which the adapter listened counts.
    var staleLowEnergy: Duration = .seconds(30)
    var staleClassic: Duration = .seconds(90)
    /// Number of discoveries that must also have missed a meter before it counts as gone: a kernel that filters
    /// duplicates reports a device once per discovery.
    var roundsMissed = 3
    /// Multiple of the stale time after which a meter counts as gone, regardless of the number of discoveries.
    var staleFactorMax = 4
    /// Time after which a meter counts as gone even if no adapter listened. habluetooth uses this limit for a device
    /// with an unknown advertising interval (`FALLBACK_MAXIMUM_STALE_ADVERTISEMENT_SECONDS`).
    var staleMax: Duration = .seconds(900)
    var countWindow: Duration = .seconds(60)

    package init() {}

    /// Timing for radios that search without a pause and report each advertisement: there are no rounds to miss.
    package static var continuous: SightingTiming {
        var timing = SightingTiming()
        timing.roundsMissed = 0
        return timing
    }
}

/// Stores every received device for a limited time, and meters until they disappear.
///
/// Any device can send arbitrary data, so the numbers of devices and of meters are bounded.
package struct RadioSightings: Sendable {
    package let timing: SightingTiming
    private let catalogue: MeterCatalogue
    /// Maximum number of stored devices. Further devices are dropped, unless they look like meters.
    package static let devicesMax = 4096
    package static let metersMax = 256

    private var places: [Key: Int] = [:]
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var meters: Set<Int> = []
    private var rounds: [MACAddress: (lowEnergy: ListenedTime, classic: ListenedTime)] = [:]
    /// Times of the last `refusalsMax` reports dropped because the table was full, by adapter.
    private var refusals: [MACAddress: [MonotonicTime]] = [:]
    private static let refusalsMax = 1000

    /// The same device over two adapters, or over LE and Classic, makes two sightings.
    private struct Key: Hashable {
        var device: UInt64
        var adapter: UInt64

        init(_ device: RadioAddress, _ adapter: MACAddress) {
            self.device = device.address.bits | UInt64(device.kind.rawValue) << 48
            self.adapter = adapter.bits
        }
    }

    private struct Entry {
        var key: Key
        var sighting: RadioSighting
        var verdict: RadioIdentification
        var isNameComplete = false
        var services: [BluetoothUUID] = []
        var lastHeard: MonotonicTime
        var lastTold: MonotonicTime
        /// Total time for which the adapter had listened to this kind of radio when it last reported the device.
        var listened: ListenedTime.Mark
        /// Digests of the last two contents, because an advertisement and a scan response may alternate.
        var digests: (UInt64, UInt64)
        var contents: [[UInt8]] = []
    }

    package init(timing: SightingTiming = SightingTiming(), of catalogue: MeterCatalogue = .standard) {
        self.timing = timing
        self.catalogue = catalogue
    }

    // MARK: Events

    package mutating func heard(
        _ report: DeviceReport, by adapter: MACAddress, at now: MonotonicTime
    ) -> RadioSightingEvent? {
        let key = Key(report.address, adapter)
        let digest = Self.digest(report.data)
        if let place = places[key] { return heardAgain(place, report, digest, at: now) }
        if places.count >= Self.devicesMax {
            guard places.count < Self.devicesMax + Self.metersMax, mayBeMeter(report) else {
                refuse(adapter, at: now)
                return nil
            }
        }
        return heardFirst(key, report, adapter, digest, at: now)
    }

    package mutating func discovering(
        _ kinds: DiscoveryKinds, isOn: Bool, by adapter: MACAddress, at now: MonotonicTime
    ) {
        var times = rounds[adapter] ?? (ListenedTime(), ListenedTime())
        // An interleaved discovery gives each radio half of the time.
        let part = kinds == .interleaved ? 2 : 1
        if !kinds.isDisjoint(with: .lowEnergy) { times.lowEnergy.changed(isOn: isOn, part: part, at: now) }
        if kinds.contains(.classic) { times.classic.changed(isOn: isOn, part: part, at: now) }
        rounds[adapter] = times
    }

    /// Removes devices that no adapter has reported for a long time.
    ///
    /// - Parameter isLinked: returns whether a device has a link and so counts as present, although it does not
    ///   advertise.
    package mutating func expire(
        at now: MonotonicTime, isLinked: (RadioSighting) -> Bool
    ) -> [RadioSightingEvent] {
        var events: [RadioSightingEvent] = []
        for (place, entry) in entries.enumerated() where places[entry.key] == place {
            guard meters.contains(place) else {
                if now - entry.lastHeard >= timing.countWindow { forget(place) }
                continue
            }
            if isLinked(entry.sighting) {
                entries[place].lastHeard = now
                entries[place].listened = listened(to: entry.sighting, at: now)
            } else if isStale(entry, at: now) {
                events.append(.vanished(entry.sighting))
                forget(place)
            }
        }
        return events
    }

    package mutating func adapterLost(
        _ adapter: MACAddress, isLinked: (RadioSighting) -> Bool
    ) -> [RadioSightingEvent] {
        var events: [RadioSightingEvent] = []
        rounds[adapter]?.lowEnergy.dropPresent()
        rounds[adapter]?.classic.dropPresent()
        for (place, entry) in entries.enumerated()
        where places[entry.key] == place && entry.key.adapter == adapter.bits {
            if meters.contains(place) {
                if isLinked(entry.sighting) { continue }
                events.append(.vanished(entry.sighting))
            }
            forget(place)
        }
        return events
    }

    package var sightings: [RadioSighting] { meters.sorted().map { entries[$0].sighting } }

    package func isNamed(_ device: RadioAddress, heardBy adapter: MACAddress) -> Bool {
        places[Key(device, adapter)].map { entries[$0].sighting.name != nil } ?? false
    }

    package func count(heardBy adapter: MACAddress, at now: MonotonicTime) -> Int {
        entries.enumerated().count { place, entry in
            entry.key.adapter == adapter.bits && places[entry.key] == place
                && now - entry.lastHeard < timing.countWindow
        }
    }

    package func passedOver(at now: MonotonicTime) -> [PassedOverRadio] {
        let all = entries.enumerated().compactMap { place, entry -> PassedOverRadio? in
            guard places[entry.key] == place, !meters.contains(place), now - entry.lastHeard < timing.countWindow
            else { return nil }
            return PassedOverRadio(
                sighting: entry.sighting, looksLikeMeter: entry.verdict != .none, reason: reason(of: entry))
        }
        return all.filter(\.looksLikeMeter) + all.filter { !$0.looksLikeMeter }
    }

    /// Returns the number of possible meters recently received but not reported. Devices without room in the table
    /// count once for each report.
    package func droppedCount(heardBy adapter: MACAddress, at now: MonotonicTime) -> Int {
        let refused = refusals[adapter]?.count { now - $0 < timing.countWindow } ?? 0
        return passedOver(at: now).count { $0.looksLikeMeter && $0.sighting.adapter == adapter } + refused
    }

    package var heard: [HeardRadio] {
        entries.enumerated().filter { place, entry in places[entry.key] == place && entry.verdict != .none }
            .map { _, entry in
                HeardRadio(
                    device: entry.sighting.device, name: entry.sighting.name, rssi: entry.sighting.rssi,
                    data: entry.contents)
            }
    }

    package var strangerCount: Int {
        entries.enumerated().count { place, entry in places[entry.key] == place && entry.verdict == .none }
    }

    private func reason(of entry: Entry) -> PassedOverRadio.Reason {
        guard entry.verdict != .none else { return .noMeter }
        let device = entry.sighting.device
        guard let kind = device.addressKind else { return .reservedAddress }
        return device.address.identityFault(of: kind).map { .address($0) } ?? .noRoom
    }

    private mutating func refuse(_ adapter: MACAddress, at now: MonotonicTime) {
        if refusals[adapter]?.count ?? 0 >= Self.refusalsMax { refusals[adapter]?.removeFirst() }
        refusals[adapter, default: []].append(now)
    }

    // MARK: One device

    private mutating func heardFirst(
        _ key: Key, _ report: DeviceReport, _ adapter: MACAddress, _ digest: UInt64, at now: MonotonicTime
    ) -> RadioSightingEvent? {
        let sighting = RadioSighting(
            device: report.address, adapter: adapter, model: nil, name: nil, rssi: report.rssi)
        let entry = Entry(
            key: key, sighting: sighting, verdict: .none, lastHeard: now, lastTold: now,
            listened: listened(to: sighting, at: now), digests: (digest, digest))
        let place: Int
        if let gap = free.popLast() {
            place = gap
            entries[gap] = entry
        } else {
            place = entries.count
            entries.append(entry)
        }
        places[key] = place
        return learn(place, report, at: now)
    }

    private mutating func heardAgain(
        _ place: Int, _ report: DeviceReport, _ digest: UInt64, at now: MonotonicTime
    ) -> RadioSightingEvent? {
        entries[place].lastHeard = now
        let known = entries[place].digests
        if digest != known.0, digest != known.1 {
            entries[place].digests = (digest, known.0)
            if let event = learn(place, report, at: now) { return event }
        }
        guard entries[place].verdict != .none, meters.contains(place) else { return nil }
        entries[place].listened = listened(to: entries[place].sighting, at: now)
        if let rssi = report.rssi { entries[place].sighting.rssi = rssi }
        guard now - entries[place].lastTold >= timing.heardInterval else { return nil }
        entries[place].lastTold = now
        return .heard(entries[place].sighting)
    }

    /// Updates a device. A device identified as a meter remains a meter until it is removed.
    private mutating func learn(_ place: Int, _ report: DeviceReport, at now: MonotonicTime) -> RadioSightingEvent? {
        let data = AdvertisingData(report.data)
        var entry = entries[place]
        let old = entry.sighting.name.map { DeviceName($0, isComplete: entry.isNameComplete) }
        if let name = data.name?.replacing(old) {
            entry.sighting.name = name.text
            entry.isNameComplete = name.isComplete
        }
        for service in data.services where !entry.services.contains(service) {
            if entry.services.count < AdvertisingData.servicesMax { entry.services.append(service) }
        }
        let verdict = RadioIdentification(
            name: entry.sighting.name, services: entry.services, kind: report.address.kind, in: catalogue)
        let before = entries[place].sighting
        if case .meter(let model) = verdict { entry.sighting.model = model }
        // Forget the digest of the earlier content, which was not stored: if received again, that content must count as
        // new.
        if verdict != .none, entry.verdict == .none { entry.digests.1 = entry.digests.0 }
        if verdict != .none, entry.verdict == .none || entry.sighting.model != nil { entry.verdict = verdict }
        if entry.verdict != .none { entry.contents = [Array(report.data)] + entry.contents.prefix(1) }
        guard report.address.isIdentity else {
            entries[place] = entry
            return nil
        }
        let isMeter = meters.contains(place)
        let isNews =
            entry.verdict != .none
            && (!isMeter || entry.sighting.model != before.model || entry.sighting.name != before.name)
        guard isNews, isMeter || meters.count < Self.metersMax else {
            // Store it although it is not reported now: name and service may arrive in separate reports.
            entries[place] = entry
            return nil
        }
        meters.insert(place)
        entry.lastTold = now
        entry.listened = listened(to: entry.sighting, at: now)
        entries[place] = entry
        return .appeared(entry.sighting)
    }

    private func mayBeMeter(_ report: DeviceReport) -> Bool {
        let data = AdvertisingData(report.data)
        let verdict = RadioIdentification(
            name: data.name?.text, services: data.services, kind: report.address.kind, in: catalogue)
        return verdict != .none
    }

    private func listened(to sighting: RadioSighting, at now: MonotonicTime) -> ListenedTime.Mark {
        guard let times = rounds[sighting.adapter] else { return ListenedTime.Mark() }
        return (sighting.device.kind.isLowEnergy ? times.lowEnergy : times.classic).mark(at: now)
    }

    private func isStale(_ entry: Entry, at now: MonotonicTime) -> Bool {
        if now - entry.lastHeard >= timing.staleMax { return true }
        let limit = entry.sighting.device.kind.isLowEnergy ? timing.staleLowEnergy : timing.staleClassic
        let present = listened(to: entry.sighting, at: now)
        let age = present.time - entry.listened.time
        if age >= limit * timing.staleFactorMax { return true }
        return age >= limit && present.rounds - entry.listened.rounds >= timing.roundsMissed
    }

    private mutating func forget(_ place: Int) {
        places[entries[place].key] = nil
        entries[place].services = []
        meters.remove(place)
        free.append(place)
    }

    /// FNV-1a only detects changes; security does not depend on it.
    private static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}

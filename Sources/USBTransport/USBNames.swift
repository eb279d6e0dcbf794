import Domain

struct PluggedMeter: Hashable {
    var vendor: UInt16
    var product: UInt16
    var plug: USBPlug
    var sharesSerial: Bool
    var model: ModelName
    var name: String?
    var links: [LinkAddress]

    fileprivate var bySerial: MeterID? {
        plug.serial.map { .usb(vendor: vendor, product: product, serial: $0) }
    }
}

/// Chooses the ids of plugged-in meters: by serial number, or by port if several meters share the number. A meter keeps
/// its id while it remains in its port.
struct USBNames {
    private let host: String
    /// Meters that were plugged in at this host, with their last port and serial number; nil if recorded only by an
    /// earlier version of meterd.
    private var met: [MeterID: USBPlug?] = [:]
    private var parted: Set<MeterID> = []

    init(host: String) { self.host = host }

    mutating func remember(_ meter: MeterID, _ plug: USBPlug?) { met.updateValue(plug, forKey: meter) }

    /// Removes a meter. With `byPort`, its serial number is never used as an id again.
    mutating func forget(_ meter: MeterID, byPort: Bool) {
        if byPort { parted.insert(meter) }
        met[meter] = nil
    }

    mutating func ids(of meters: [PluggedMeter]) -> [MeterID] {
        let kept = meters.map(keptID)
        let taken = Set(kept.compactMap(\.self))
        let claims = zip(meters, kept).filter { $1 == nil }.compactMap(\.0.bySerial)
        let ids = zip(meters, kept).map { meter, kept in
            if let kept { return kept }
            guard let own = meter.bySerial, !taken.contains(own), claims.count(where: { $0 == own }) == 1,
                mayHaveSerial(meter, own)
            else { return byPort(meter) }
            return own
        }
        for (meter, id) in zip(meters, ids) { remember(id, meter.plug) }
        return ids
    }

    /// Returns the id that the meter had when it was last in this port; nil if it never was.
    private func keptID(_ meter: PluggedMeter) -> MeterID? {
        if let own = meter.bySerial, let plug = met[own] ?? nil, plug.port == meter.plug.port { return own }
        let port = byPort(meter)
        return met[port] == .some(meter.plug) ? port : nil
    }

    /// Whether the meter's serial number may be its id. Call it only if exactly one meter with this number has no id
    /// yet.
    private func mayHaveSerial(_ meter: PluggedMeter, _ own: MeterID) -> Bool {
        let hasTwin = met.contains { id, plug in
            guard case .usbPort(meter.vendor, meter.product, _, _) = id else { return false }
            return plug?.serial == meter.plug.serial
        }
        guard !hasTwin, !parted.contains(own) else { return false }
        if met[own] != nil { return true }
        // An earlier version identified meters with equal serial numbers by port. If it did so for this meter, its
        // number may not be unique.
        let wasByPort = met[byPort(meter)].map { $0 == nil } ?? false
        return !meter.sharesSerial && !wasByPort
    }

    private func byPort(_ meter: PluggedMeter) -> MeterID {
        .usbPort(vendor: meter.vendor, product: meter.product, host: host, path: meter.plug.port)
    }
}

import Domain

/// A meter that is plugged in, before it has an id.
struct PluggedMeter: Hashable {
    var vendor: UInt16
    var product: UInt16
    var plug: USBPlug
    /// Whether other meters are known to have its serial number.
    var sharesSerial: Bool
    var model: ModelName
    /// The product's text.
    var name: String?
    var links: [LinkAddress]

    fileprivate var bySerial: MeterID? {
        plug.serial.map { .usb(vendor: vendor, product: product, serial: $0) }
    }
}

/// Decides by which id a plugged-in meter is known: by its serial number wherever it is plugged in, or by its port where
/// several meters have that number. An id once given stays. A value without a clock.
struct USBNames {
    /// This host's id, for ids by port.
    private let host: String
    /// The meters that this host has met, as they were last plugged in; nil where an earlier version met them.
    private var met: [MeterID: USBPlug?] = [:]
    /// Ids by serial numbers that a person said are several meters'.
    private var parted: Set<MeterID> = []

    init(host: String) { self.host = host }

    mutating func remember(_ meter: MeterID, _ plug: USBPlug?) { met.updateValue(plug, forKey: meter) }

    /// The meter was never met. With `byPort`, none is known by its serial number from now on.
    mutating func forget(_ meter: MeterID, byPort: Bool) {
        if byPort { parted.insert(meter) }
        met[meter] = nil
    }

    /// The ids of the meters that are plugged in now, in their order. Remembers them.
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

    /// The id that the meter had when it was last in this port.
    private func keptID(_ meter: PluggedMeter) -> MeterID? {
        if let own = meter.bySerial, let plug = met[own] ?? nil, plug.port == meter.plug.port { return own }
        let port = byPort(meter)
        return met[port] == .some(meter.plug) ? port : nil
    }

    /// Whether the only meter with this serial number that has no id yet gets it as its id.
    private func mayHaveSerial(_ meter: PluggedMeter, _ own: MeterID) -> Bool {
        let hasTwin = met.contains { id, plug in
            guard case .usbPort(meter.vendor, meter.product, _, _) = id else { return false }
            return plug?.serial == meter.plug.serial
        }
        guard !hasTwin, !parted.contains(own) else { return false }
        if met[own] != nil { return true }
        // Met by an earlier version, which knew a meter by its port where two had a serial number.
        let wasByPort = met[byPort(meter)].map { $0 == nil } ?? false
        return !meter.sharesSerial && !wasByPort
    }

    private func byPort(_ meter: PluggedMeter) -> MeterID {
        .usbPort(vendor: meter.vendor, product: meter.product, host: host, path: meter.plug.port)
    }
}

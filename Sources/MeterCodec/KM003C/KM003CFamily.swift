package import Domain

extension MeterFamily {
    package static let km003c = MeterFamily("km003c", of: .chargerlab)
}

extension ModelName {
    package static let km002c = ModelName("km002c", of: .km003c)
    package static let km003c = ModelName("km003c", of: .km003c)
}

/// The KM003C and KM002C (Docs/Protocols/KM003C.md).
package struct KM003CFamily: FamilyDescription {
    package init() {}

    package var family: MeterFamily { .km003c }
    package var models: [ModelName] { [.km002c, .km003c] }

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        switch transport {
        case .serial, .bulk: KM003CDriver(model: model, over: transport)
        case .hid, .network, .ble, .spp, .computed: nil
        }
    }

    package var decoders: [NamedDecoder] {
        ["km002c", "km003c"].map { name in
            NamedDecoder(name) { KM003CDecoder(side: .both, enforcesChecks: $0) }
        }
    }

    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { KM003CADC.ranges }

    /// USB interfaces: a serial one, and a vendor-specific one with more functions.
    package var usbDevices: [USBIdentity] {
        [
            USBIdentity(0x5FC9, 0x0063, .tty, .km003c),
            USBIdentity(0x5FC9, 0x0061, .tty, .km002c),
            USBIdentity(0x5FC9, 0x0063, .usb, layout: .init(has: [0xFF]), .km003c),
            USBIdentity(0x5FC9, 0x0061, .usb, layout: .init(has: [0xFF]), .km002c),
        ]
    }

    package var usbMaker: USBMaker? { USBMaker(.chargerlab, vendors: [0x5FC9]) }

    package var modelsWithLogs: [ModelName] { [.km003c, .km002c] }

    package var modelsHearingPD: [ModelName] { [.km003c, .km002c] }

    package func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)? {
        MappedTransfer(KM003CLogDownload(wish, model: model), MeterLogs.init)
    }
}

extension MeterLogs {
    fileprivate init(_ outcome: KM003CLogDownload.Outcome) {
        self.init(
            device: outcome.device, catalogue: outcome.catalogue.map(MeterLog.init),
            log: outcome.log.map { Content(entry: MeterLog($0.entry), samples: $0.samples.map(\.reading)) })
    }
}

extension MeterLog {
    fileprivate init(_ entry: KM003CLogEntry) {
        self.init(
            name: entry.name, sampleCount: entry.sampleCount, interval_ms: entry.interval_ms,
            duration_s: entry.duration_s, charge_uAh: entry.charge_uAh, energy_uWh: entry.energy_uWh)
    }
}

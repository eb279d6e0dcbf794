import Domain
import GatewayAPI
import ProgramKit

enum MeterTable {
    /// Returns the wide table if it fits, otherwise one with fewer columns.
    ///
    /// - Parameters:
    ///   - room: terminal cells in a line; nil for no limit.
    ///   - isOld: whether the values may be out of date.
    static func table(_ meters: [MeterStatus], fitting room: Int?, isOld: Bool = false) -> Table {
        let wide = wide(meters, isOld)
        guard let room, wide.width > room else { return wide }
        return narrow(meters, isOld)
    }

    private static func wide(_ meters: [MeterStatus], _ isOld: Bool) -> Table {
        var table = Table(["ID", "MODEL", "NAME", "STATE", "LEASE", "VOLTAGE", "CURRENT", "POWER", "AGE"])
        for meter in meters {
            table.add(
                [.init(meter.id), .init(meter.model ?? "–"), .init(meter.name ?? "–")] + values(of: meter, isOld))
        }
        return table
    }

    /// Returns a table that fits 80 terminal cells for a meter with data and a lease.
    private static func narrow(_ meters: [MeterStatus], _ isOld: Bool) -> Table {
        var table = Table(["METER", "STATE", "LEASE", "VOLTAGE", "CURRENT", "POWER", "AGE"])
        for meter in meters {
            table.add([.init((meter.name ?? meter.id).fitting(nameMax))] + values(of: meter, isOld))
        }
        return table
    }

    /// Maximum width of a name in terminal cells: the length of a MAC address.
    private static let nameMax = 17

    private static func values(of meter: MeterStatus, _ isOld: Bool) -> [Table.Cell] {
        let reading = meter.reading?.reading
        func value(_ quantity: Quantity) -> Table.Cell {
            .init(
                Formatting.quantity(quantity, reading?[quantity]), meter.hasData && !isOld ? nil : .dim, isWhole: true)
        }
        var lease = LeaseText.cell(meter.lease)
        if isOld { lease.colour = .dim }
        return [
            .init(Formatting.state(of: meter), isOld ? .dim : Formatting.colour(of: meter)), lease, value(.voltage),
            value(.current), value(.power),
            .init(meter.age_ms.map { Formatting.age(milliseconds: $0) } ?? "–", isWhole: true),
        ]
    }

    /// Returns text such as `40 meters, 38 with data, together 123.456 W`.
    static func heading(_ meters: [MeterStatus]) -> String {
        let live = meters.filter(\.hasData)
        let power = live.compactMap { $0.reading?.reading[.power] }.reduce(0, +)
        let count = meters.count == 1 ? "1 meter" : "\(meters.count) meters"
        return "\(count), \(live.count) with data, together \(Formatting.quantity(.power, power))"
    }
}

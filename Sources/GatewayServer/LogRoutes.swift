import Domain
import Gateway
import GatewayAPI
import Hummingbird
import MeterCodec

/// Logs in the meters' own memory. Only for clients that may make changes: a meter does not measure while it sends
/// them.
extension MeterRoutes {
    func addLogs(to meter: RouterGroup<BasicRequestContext>) {
        meter.get("logs") { _, context in
            try Self.checkMayDisturb()
            let session = try await directory.session(try Self.reference(in: context))
            return try JSON.response(try await session.logs(.catalogue).catalogue.map(MeterLogBody.init))
        }
        meter.get("logs/:log") { request, context in
            try Self.checkMayDisturb()
            let session = try await directory.session(try Self.reference(in: context))
            let name = try context.parameters.require("log").percentDecoded ?? ""
            // Get the whole log first, so that a failure has its own status code.
            guard let log = try await session.logs(.log(named: name)).log else {
                throw GatewayError(.notFound, "\(session.id) has no log \(name)", next: "meterctl logs \(session.id)")
            }
            return try await Response.lines(for: request) { write in
                for (index, sample) in log.samples.enumerated() {
                    let time = Double(index * log.entry.interval_ms) / 1000
                    try await write(MeterLogSampleLine(t: time, values: ReadingBody(sample)))
                }
            }
        }
    }

    private static func checkMayDisturb() throws(GatewayError) {
        guard !Asker.current.mayDisturb else { return }
        throw GatewayError(
            .permission, "reading a meter's logs stops its measuring, and this user may look and not change anything",
            next: "meterctl doctor says how to join the group of the control socket")
    }
}

extension MeterLogBody {
    fileprivate init(_ entry: MeterLog) {
        self.init(
            name: entry.name, samples: entry.sampleCount, interval_ms: entry.interval_ms, duration_s: entry.duration_s,
            charge_mAh: Double(entry.charge_uAh) / 1000, energy_Wh: Double(entry.energy_uWh) / 1e6)
    }
}

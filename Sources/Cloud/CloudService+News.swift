import LeaseCore
import Logging
import MeterModel

extension CloudService {
    /// Passes on what another copy of this cloud did.
    package func hear(_ news: CloudNews) async {
        switch news {
        case .records(let types, let zone):
            hub.tellChange(of: types, by: nil, in: zone)
        case .lease(let record, let meter, let name):
            do {
                guard let zone = try await engine.zone(name) else { return }
                tell(record, meter: meter, in: zone)
            } catch {
                logger.warning("a lease's change is not told", metadata: ["meter": "\(meter)", "error": "\(error)"])
            }
            await settleLine(of: MeterPlace(zone: name, meter: meter))
        case .line(let line, let place):
            guard lines.take(line, at: place) else { return }
            await tellLine(at: place)
            await settleLine(of: place)
        case .revoked(let credential):
            hub.end(credential: credential)
        }
    }
}

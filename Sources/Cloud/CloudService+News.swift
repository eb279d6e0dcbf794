import Domain
import Logging

extension CloudService {
    package func hear(_ news: CloudNews) async {
        switch news {
        case .records(let types, let zone):
            hub.tellChange(of: types, by: nil, in: zone)
        case .lease(let record, let meter, let name):
            do {
                guard let zone = try await engine.zone(name) else { return }
                tell(record, meter: meter, in: zone)
            } catch {
                logger.warning("lease change not sent to hosts", metadata: ["meter": "\(meter)", "error": "\(error)"])
            }
            await settleQueue(of: MeterPlace(zone: name, meter: meter))
        case .queue(let queue, let place):
            guard queues.update(queue, at: place) else { return }
            await tellQueue(at: place)
            await settleQueue(of: place)
        case .revoked(let credential):
            endStreams(of: credential)
        }
    }
}

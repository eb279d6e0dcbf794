import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Marks on timelines: `/v1/meters/{meter}/marks`, `/v1/marks/{mark}`.
package struct MarkRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let marks: MarkService

    package init(directory: MeterDirectory, marks: MarkService) {
        self.directory = directory
        self.marks = marks
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("meters/:meter/marks") { request, context in
            let meter = try await directory.meter(try MeterRoutes.reference(in: context))
            let from = try request.time("from") ?? WallTime(millisecondsSince1970: .min)
            let to = try request.time("to") ?? WallTime(millisecondsSince1970: .max)
            let span: Range<WallTime> = from..<max(from, to)
            let all = try await marks.marks(of: directory.ids(of: meter), in: span)
            return try JSON.response(MarksBody(marks: all.map { MarkBody($0) }))
        }
        api.post("meters/:meter/marks") { request, context in
            let body = try await JSON.decode(MarkRequest.self, from: request)
            let meter = try await directory.meter(try MeterRoutes.reference(in: context))
            let order = MarkService.Order(
                name: body.name, start: try Self.time(body.at), end: try Self.time(body.end),
                isOpen: body.open ?? false, isLocal: body.local ?? false)
            return try JSON.response(MarkBody(try await marks.add(order, of: meter)))
        }
        api.patch("marks/:mark") { request, context in
            let body = try await JSON.decode(MarkChange.self, from: request)
            let reference = try MeterRoutes.reference("mark", in: context)
            var end: MarkService.End?
            if let time = try Self.time(body.end == "now" ? nil : body.end) {
                end = .at(time)
            } else if body.end != nil {
                end = .now
            }
            return try JSON.response(MarkBody(try await marks.change(reference, name: body.name, end: end)))
        }
        api.delete("marks/:mark") { _, context in
            try JSON.response(MarkBody(try await marks.delete(try MeterRoutes.reference("mark", in: context))))
        }
    }

    private static func time(_ text: String?) throws(GatewayError) -> WallTime? {
        guard let text else { return nil }
        guard let time = WallTime(text) else {
            throw GatewayError(
                .badRequest, "\"\(text.prefix(40).visible)\" is not a time",
                next: "give a time such as 2026-11-21T13:40:05Z")
        }
        return time
    }
}

extension MarkBody {
    init(_ entry: MarkEntry) {
        let mark = entry.mark
        self.init(
            id: mark.id.short, meter: entry.meter.description, name: mark.name, from: mark.start.description,
            to: mark.end?.description, is_local: entry.isLocal, host: entry.hostName,
            host_id: mark.id.host.description)
    }
}

import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Overwritten settings (`/v1/meters/{meter}/history`), and migration of stored records to the current naming rule
/// (`/v1/rebuild`).
package struct HistoryRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let settings: SettingsService
    private let rebuild: RebuildService

    package init(directory: MeterDirectory, settings: SettingsService, rebuild: RebuildService) {
        self.directory = directory
        self.settings = settings
        self.rebuild = rebuild
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("meters/:meter/history") { request, context in
            let meter = try await directory.meter(try MeterRoutes.reference(in: context))
            let limit = try request.number("limit", in: 1...1000) ?? 100
            let lines = try await settings.history(
                of: meter, key: request.uri.queryParameters["key"].map(String.init), limit: limit)
            return try JSON.response(HistoryBody(meter: meter.description, history: lines))
        }
        api.post("rebuild") { request, _ in
            var request = request
            _ = try await request.collectBody(upTo: JSON.bodyBytesMax)
            let body = try await JSON.decode(RebuildRequest.self, from: request)
            if body.dry_run == true {
                return try JSON.response(try await rebuild.report())
            }
            return try await Response.lines(for: request) { write in try await run(write) }
        }
    }

    /// Runs a rebuild. Stops between two of its steps when the client disconnects.
    private func run(_ write: (any Encodable) async throws -> Void) async throws {
        let (lines, sink) = AsyncStream.makeStream(of: RebuildLine.self)
        let steps = rebuild.progress.subscribe()
        // Runs until this scope ends, which cancels the task.
        async let _: Void = Self.relay(steps, to: sink)
        async let end: Void = finish(sink)
        for await line in lines { try await write(line) }
        await end
    }

    private static func relay(
        _ steps: Feed<RebuildProgress>.Subscription, to sink: AsyncStream<RebuildLine>.Continuation
    ) async {
        for await step in steps where !step.value.isComplete {
            let progress = step.value
            sink.yield(
                RebuildLine(.running, version: progress.version, scanned: progress.scanned, folded: progress.folded))
        }
    }

    private func finish(_ sink: AsyncStream<RebuildLine>.Continuation) async {
        sink.yield(await outcome())
        sink.finish()
    }

    private func outcome() async -> RebuildLine {
        do throws(GatewayError) {
            switch try await rebuild.run() {
            case .complete(let progress):
                return RebuildLine(
                    .complete, version: progress.version, scanned: progress.scanned, folded: progress.folded)
            case .cancelled(let progress):
                return RebuildLine(
                    .cancelled, version: progress.version, scanned: progress.scanned, folded: progress.folded)
            }
        } catch {
            return RebuildLine(.failed, error: error.body)
        }
    }
}

package import Hummingbird
package import HummingbirdCore
import LinuxIO
package import Logging
package import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// An HTTP server that causes no wake-ups while it gets no requests. Hummingbird's own `Application` formats the date
/// every second, which costs three thread switches.
package struct QuietApplication<Responder: HTTPResponder>: ApplicationProtocol
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    package let responder: Responder
    package let server: HTTPServerBuilder
    package let configuration: ApplicationConfiguration
    package let logger: Logger
    private let whenRunning: @Sendable (any Channel) async -> Void
    private let date = HTTPDate(now: { LinuxClock.wallNow })

    /// - Parameter onServerRunning: called once clients can connect.
    package init(
        responder: Responder, server: HTTPServerBuilder = .http1(), configuration: ApplicationConfiguration,
        onServerRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }, logger: Logger
    ) {
        self.responder = responder
        self.server = server
        self.configuration = configuration
        whenRunning = onServerRunning
        self.logger = logger
    }

    package func onServerRunning(_ channel: any Channel) async { await whenRunning(channel) }

    /// Serves until graceful shutdown or cancellation, which closes every connection.
    package func run() async throws {
        try await server.buildServer(
            configuration: ServerConfiguration(
                address: configuration.address, serverName: configuration.serverName, backlog: configuration.backlog,
                reuseAddress: configuration.reuseAddress,
                availableConnectionsDelegate: configuration.availableConnectionsDelegate),
            eventLoopGroup: eventLoopGroup, logger: logger
        ) { request, writer, channel in
            let response = try await answer(request, over: channel)
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch is HTTPParserError {
                // End the connection: after the parser's own error, the library would append a second response to the
                // incomplete one.
                throw HalfAnswer()
            }
        } onServerRunning: {
            await onServerRunning($0)
        }.run()
    }

    private func answer(_ request: Request, over channel: any Channel) async throws -> Response {
        var logger = logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
        var response = try await withLogger(logger) { logger in
            let context = Responder.Context(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            do {
                return try await responder.respond(to: request, context: context)
            } catch let error as HTTPParserError {
                throw error
            } catch {
                logger.debug("request handler failed", metadata: ["cause": "\(error)"])
                return Response(status: .internalServerError)
            }
        }
        response.headers[.date] = date.text
        response.headers[.server] = configuration.serverName
        return response
    }
}

/// Whether the error means that the client disconnected or broke off its request, or that this server is shutting down.
/// Such an error needs no response and no log line.
package func leavesNobodyToAnswer(_ error: any Error) -> Bool { error is HTTPParserError || error is CancellationError }

private struct HalfAnswer: Error {}
